// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/time.h"

namespace headway::trace {

/// This process, so that another one can tell whether it still runs: its id, when it started, and
/// which boot of which machine that was. Empty when the system does not say.
std::string this_process();

/// Whether the process that once called itself this still runs, here.
bool still_runs(std::string_view process);

/// Changes when the recorder of a trace file has written to it.
struct FileState {
  std::int64_t bytes = -1;
  std::int64_t modified_ns = 0;
  std::int64_t log_bytes = -1;
  std::int64_t log_modified_ns = 0;

  explicit FileState(const std::filesystem::path& path);
  bool exists() const { return bytes > 0; }
  bool operator==(const FileState&) const = default;
};

/// What became of the recorder of a trace file.
enum class Recorder : std::uint8_t {
  kFinished,   ///< it ended the file in order, or another program wrote it
  kRuns,       ///< here
  kGone,       ///< the recording was cut
  kElsewhere,  ///< on another machine: only the file says whether it goes on
};

struct RecordingProgress {
  Recorder recorder = Recorder::kFinished;
  TimeNs newest;  ///< about the end of the newest event or sample
};
/// In a few look-ups. Throws as `load` for a file that is no SQLite file.
RecordingProgress recording_progress(const std::filesystem::path& path);

}  // namespace headway::trace
