// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace headway::trace {

/// Expands the arguments of a command line to trace files: a file stays as it is, a folder becomes the traces directly inside
/// it, a pattern ('runs/*.sqlite', quoted) its matches, an archive of several traces its members. Within a folder or pattern
/// the files are sorted, numbers by value; otherwise the given order is kept. Throws Error(kUsage) for a pattern or folder
/// without traces.
std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments);

}  // namespace headway::trace
