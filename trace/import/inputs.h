// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace headway::trace {

/// Trace files named on a command line: files as they are, folders as the traces directly inside
/// them, patterns ('runs/*.sqlite', quoted) as what they match, archives of several as their members. Sorted within a folder or pattern,
/// numbers by value; otherwise in the order given. Throws Error(kUsage) for a pattern or folder
/// without traces.
std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments);

}  // namespace headway::trace
