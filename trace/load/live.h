// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway::trace {

/// This process, so that another one can tell whether it still runs: its id, when it started, and
/// which boot of which machine that was. Empty when the system does not say.
std::string this_process();

/// Whether the process that once called itself this still runs, here.
bool still_runs(std::string_view process);

}  // namespace headway::trace
