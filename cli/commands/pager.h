// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace headway::cli {

/// Adds --no-pager, which `show` obeys.
void declare_pager(CLI::App& app);

/// Like `write_output`, but text that is longer than the terminal on standard output is shown page
/// by page: with the first of HEADWAY_PAGER and PAGER that is set, else with `less`. An empty value
/// or `cat` turns the pager off. For the final output of a command.
void show(const std::string& path, const std::string& text);

}  // namespace headway::cli
