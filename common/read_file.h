// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace headway {

/// Reads a whole file of a few kilobytes: settings, budgets, calibrations. Throws Error(kBadInput)
/// for: no such file, a folder, a device or a pipe (reading one may never end or never begin), more
/// than `most` bytes, not readable. Its text ends with `expected`, a sentence that says what
/// belongs there and how to make it.
std::string read_file(const std::filesystem::path& path, std::size_t most,
                      std::string_view expected);

}  // namespace headway
