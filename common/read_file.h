// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace headway {

/// The whole of a file that people or programs write by the kilobyte: settings, budgets,
/// calibrations. Throws Error(kBadInput) that ends with `expected` (a sentence: what belongs there,
/// how to make it): no such file, a folder, a device or a pipe (which may never end, or never begin),
/// more than `most` bytes, not readable.
std::string read_file(const std::filesystem::path& path, std::size_t most,
                      std::string_view expected);

}  // namespace headway
