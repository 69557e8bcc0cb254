// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "collector/record/messages.h"
#include "collector/record/system/proc_files.h"
#include "collector/record/system/rate.h"

namespace headway::record {

/// The counters of the machine.
class MachineSampler {
 public:
  MachineSampler();
  void sample(std::int64_t monotonic_ns, std::vector<Sample>& samples);

 private:
  void sample_cpu(std::vector<Sample>& samples);
  void sample_disks(std::int64_t monotonic_ns, std::vector<Sample>& samples);

  ProcFile cpu_{"/proc/stat"};
  ProcFile memory_{"/proc/meminfo"};
  ProcFile disks_{"/proc/diskstats"};
  std::set<std::string, std::less<>> disk_names_;
  std::int64_t cpu_busy_ = 0;
  std::int64_t cpu_total_ = 0;
  Rate disk_read_;
  std::string buffer_;
};

}  // namespace headway::record
