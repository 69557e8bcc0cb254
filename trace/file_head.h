// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace headway::trace {

/// The first bytes of a file, at most `most`. Throws Error(kBadInput) when the path cannot be a
/// trace: a missing, unreadable or empty file, a folder, a device.
std::string read_head(const std::filesystem::path& path, std::size_t most);

}  // namespace headway::trace
