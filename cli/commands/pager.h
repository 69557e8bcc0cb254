// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace headway::cli {

/// Adds --no-pager, which `show` obeys.
void declare_pager(CLI::App& app);

/// `write_output`, but what is longer than the terminal on standard output is shown page by page: by
/// the first that is set of HEADWAY_PAGER and PAGER, else by `less`. Empty or `cat`: not at all. For
/// what a command ends with and somebody reads.
void show(const std::string& path, const std::string& text);

}  // namespace headway::cli
