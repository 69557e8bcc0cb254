// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

namespace headway::trace {

/// The recordings in a file: the members of a zip archive of several as "archive.zip/member.json"
/// (paths that load() opens), by name; any other file is itself. Throws Error(kBadInput) when there is no such
/// file or the archive holds none.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path);

}  // namespace headway::trace
