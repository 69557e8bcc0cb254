// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "collector/record/messages/messages.h"
#include "collector/record/system/machine_sampler.h"
#include "collector/record/system/process_sampler.h"

namespace headway::record {

/// Reads the clocks once a second and, `hz` times a second, the counters in /proc of the machine
/// and of every process below this one. Costs the recorded programs nothing; a sample of a process
/// takes about 15 us. To be run in its own thread.
class Sampler {
 public:
  /// `hz` 0: clocks only.
  Sampler(int hz, MessageQueue& queue) : hz_(hz), queue_(queue), machine_(hz) {}

  /// Samples until `finish`.
  void run();
  /// Thread-safe.
  void finish() { finishing_ = true; }

 private:
  /// Looks for new processes below this one, if any process was made since the last call.
  void discover();
  void sample();

  struct Known {
    ProcessSampler sampler;
    ProcFile arguments;     ///< /proc/<pid>/cmdline
    std::string described;  ///< its content when the process was last described
  };
  /// Describes the process if it is new or runs another program than at the last sample.
  void describe(pid_t pid, Known& known);
  int hz_;
  MessageQueue& queue_;
  std::atomic<bool> finishing_ = false;
  MachineSampler machine_;
  std::map<pid_t, Known> processes_;
  ProcFile load_{"/proc/loadavg"};
  /// The newest pid of the machine, from /proc/loadavg: while unchanged, no process was made.
  std::int64_t newest_pid_ = -1;
  std::int64_t sampled_ns_ = 0;
  std::string buffer_;
};

}  // namespace headway::record
