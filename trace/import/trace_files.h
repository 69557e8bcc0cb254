// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

namespace headway::trace {

/// The recordings in a file. For a zip archive of several: its members, sorted by name, as
/// "archive.zip/member.json" (paths that load() opens). For any other file: the file itself. Throws
/// Error(kBadInput) when there is no such file or the archive has no recording.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path);

}  // namespace headway::trace
