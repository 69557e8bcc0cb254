// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace headway::test {

/// The folder of real recordings: $HEADWAY_TRACES, else shared/traces beside the checkout. It need
/// not be there; then the tests that read it say that they are skipped.
inline std::filesystem::path recordings_folder() {
  const char* told = std::getenv("HEADWAY_TRACES");
  return told ? std::filesystem::path(told)
              : std::filesystem::path(HEADWAY_SOURCE_DIR) / ".." / "shared" / "traces";
}

/// The recordings whose name ends so, sorted; empty when there are none here.
inline std::vector<std::filesystem::path> recordings(std::string_view ending) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(recordings_folder(), error)) {
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace headway::test
