// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "common/error.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::test {

/// A file with the given content, gone at the end of the scope.
class ContentFile {
 public:
  explicit ContentFile(std::string_view content, const std::string& name = "trace.json")
      : path(folder_ / name) {
    std::ofstream(path, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }

 private:
  TemporaryFolder folder_;

 public:
  std::filesystem::path path;
};

inline trace::Trace load_text(std::string_view content, int threads = 2) {
  ContentFile file(content);
  return trace::load(file.path, {.threads = threads});
}

/// `events` as the events of a recording.
inline trace::Trace load_events(std::string_view events) {
  return load_text("{\"schemaVersion\": 1, \"traceEvents\": [" + std::string(events) + "]}");
}

/// The message with which loading fails; it must be bad input and name the file.
inline std::string error_of(const std::filesystem::path& path) {
  try {
    trace::load(path);
  } catch (const Error& error) {
    std::string text = error.what();
    if (error.code() != ExitCode::kBadInput) return "wrong code: " + text;
    return text.find(path.filename().string()) == std::string::npos ? "no name: " + text : text;
  }
  return "(no error)";
}
inline std::string error_of_text(std::string_view content) {
  return error_of(ContentFile(content).path);
}

inline std::int64_t loss(const trace::Trace& trace, std::string_view name) {
  for (const trace::LossCount& count : trace.losses) {
    if (count.name == name) return count.count;
  }
  return 0;
}

/// The real recordings, where they are on this machine; else empty.
inline std::filesystem::path real_traces() {
  for (const char* above : {"..", "../.."}) {
    std::filesystem::path folder =
        std::filesystem::path(HEADWAY_SOURCE_DIR) / above / "shared" / "traces";
    if (std::filesystem::exists(folder / "kineto")) return folder;
  }
  return {};
}

}  // namespace headway::test
