// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "collector/record/messages/messages.h"
#include "collector/record/system/machine_sampler.h"
#include "collector/record/system/process_sampler.h"

namespace headway::record {

/// Reads the clocks once a second and, `hz` times a second, what /proc says about every process
/// below this one and about the machine. Costs the recorded programs nothing; itself about 15 us
/// per sample and process. Runs in a thread of its own.
class Sampler {
 public:
  /// `hz` 0: clocks only.
  Sampler(int hz, MessageQueue& queue) : hz_(hz), queue_(queue), machine_(hz) {}

  /// Until `finish`.
  void run();
  /// Thread-safe.
  void finish() { finishing_ = true; }

 private:
  /// Looks for processes that are new below this one, when any process was made.
  void discover();
  void sample();

  struct Known {
    ProcessSampler sampler;
    ProcFile arguments;     ///< /proc/<pid>/cmdline
    std::string described;  ///< what that said when the process was last described
  };
  /// Tells what the process is, where it is new or another program than at the last sample.
  void describe(pid_t pid, Known& known);
  int hz_;
  MessageQueue& queue_;
  std::atomic<bool> finishing_ = false;
  MachineSampler machine_;
  std::map<pid_t, Known> processes_;
  ProcFile load_{"/proc/loadavg"};
  /// Of the machine, from /proc/loadavg: unchanged, no process was made since.
  std::int64_t newest_pid_ = -1;
  std::int64_t sampled_ns_ = 0;
  std::string buffer_;
};

}  // namespace headway::record
