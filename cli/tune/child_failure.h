// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/tune/child.h"

namespace headway::tune {

/// The last lines that a program wrote to its standard error, joined into one.
std::string last_lines(const std::string& text, std::size_t count = 8);
/// "exit status 3", "signal 9"
std::string ending_text(const ChildResult& result);
/// Throws RunFailed, with the exit status and the last lines, when the child failed.
void check_status(const ChildResult& result, const std::vector<std::string>& command);
/// A new folder for temporary files.
std::string make_temporary_folder();

}  // namespace headway::tune
