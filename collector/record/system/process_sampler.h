// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <time.h>

#include <string>
#include <vector>

#include "collector/record/messages/messages.h"
#include "collector/record/system/proc_files.h"
#include "collector/record/system/rate.h"

namespace headway::record {

/// Samples the counters of one process; counters that the system does not let us read are left out.
class ProcessSampler {
 public:
  explicit ProcessSampler(pid_t pid);
  /// Adds samples; false when the process has ended.
  bool sample(std::int64_t monotonic_ns, std::vector<Sample>& samples);

 private:
  pid_t pid_;
  clockid_t cpu_clock_ = 0;  ///< the process's CPU clock; reading it costs less than /proc
  bool has_cpu_clock_;       ///< false: the system does not let us read it
  ProcFile memory_;
  ProcFile io_;
  Rate cpu_, read_bytes_, write_bytes_, read_chars_, write_chars_;
  std::string buffer_;
};

}  // namespace headway::record
