// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/time.h"

namespace headway::trace {

/// Identifies this process, so that another process can find out whether it still runs: its id, its
/// start time, and the boot of the machine. Empty when the system does not say.
std::string this_process();

/// Whether the process with this this_process() text still runs on this machine.
bool still_runs(std::string_view process);

/// The state of a trace file and its log; it differs when the recorder has written since.
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
  kFinished,   ///< it completed the file, or another program wrote the file
  kRuns,       ///< it runs on this machine
  kGone,       ///< it ended without completing the file
  kElsewhere,  ///< on another machine: only changes of the file show whether it runs
};

struct RecordingProgress {
  Recorder recorder = Recorder::kFinished;
  TimeNs newest;  ///< approximate end of the newest event or sample
};
/// Takes only a few look-ups. Throws as `load` does for a file that is not an SQLite file.
RecordingProgress recording_progress(const std::filesystem::path& path);

}  // namespace headway::trace
