// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/record/environment/launched_rank.h"
#include "collector/record/messages/file_descriptor.h"

/// The values of /proc that the recorder needs. A process may vanish at any moment: that gives an
/// empty answer, never an error.
namespace headway::record {

/// A file of /proc that is kept open and read from its beginning each time: 1 to 4 us instead of 6 to
/// 9. When descriptors are scarce it is opened for each read, because the memory that processes hand
/// over needs the descriptors more.
class ProcFile {
 public:
  ProcFile() = default;
  explicit ProcFile(std::string path);
  /// True when the file could be opened, or will be opened for each read.
  explicit operator bool() const { return fd_ || !path_.empty(); }
  /// The content, as much as fits into `buffer`; empty when it cannot be read (any more).
  std::string_view read(std::string& buffer) const;

 private:
  FileDescriptor fd_;
  std::string path_;  ///< empty while the file is kept open, and when there is no such file
};

struct ProcessDescription {
  pid_t parent_pid = 0;
  std::int64_t start_boottime_ns = 0;  ///< in steps of the kernel's tick, 10 ms
  std::string name;                    ///< file name of the program as it was called
  std::string command_line;            ///< arguments, separated by zero bytes
  Launched launched;                   ///< from the environment at its start
  bool without_session = false;        ///< that environment names no recorder: it cannot record
};
std::optional<ProcessDescription> describe_process(pid_t pid);

/// Parent of a process; 0 when it is gone.
pid_t parent_of(pid_t pid);
/// Children of all threads of a process.
std::vector<pid_t> children_of(pid_t pid);
/// Whether `pid` descends from `ancestor`.
bool descends_from(pid_t pid, pid_t ancestor);

/// CLOCK_MONOTONIC of a time on CLOCK_BOOTTIME: they differ by the time spent suspended.
std::int64_t boottime_to_monotonic(std::int64_t boottime_ns);

/// The number after `key` in text of the form "key: 123" or "key 123"; nullopt when it is not
/// there.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);
/// The `index`-th (from 0) of numbers separated by spaces.
std::optional<std::int64_t> number_at(std::string_view text, std::size_t index);

}  // namespace headway::record
