// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collector/record/messages/messages.h"
#include "collector/record/system/proc_files.h"
#include "collector/record/system/rate.h"

namespace headway::record {

/// Samples the counters of the machine; a sample takes about 45 us, in the recorder.
class MachineSampler {
 public:
  /// `hz`: how often `sample` will be called.
  explicit MachineSampler(int hz);
  void sample(std::int64_t monotonic_ns, std::vector<Sample>& samples);

 private:
  /// Busy share from a line of /proc/stat.
  struct Cpu {
    std::string name;        ///< of the series
    std::int64_t busy = 0;   ///< ticks, as of the last sample
    std::int64_t total = 0;  ///< likewise
  };
  struct Pressure {
    const char* key;   ///< beginning of the line to read from the file
    const char* name;  ///< of the series
    const char* description;
    ProcFile file;
    Rate rate = {};
  };

  void sample_cpus(std::vector<Sample>& samples);
  void sample_cpu(Cpu& cpu, std::string_view line, std::string_view description,
                  std::vector<Sample>& samples);
  void sample_disks(std::int64_t monotonic_ns, std::vector<Sample>& samples);
  void sample_network(std::int64_t monotonic_ns, std::vector<Sample>& samples);
  void sample_pressure(std::int64_t monotonic_ns, std::vector<Sample>& samples);

  int hz_;
  ProcFile stat_{"/proc/stat"};
  ProcFile memory_{"/proc/meminfo"};
  ProcFile disks_{"/proc/diskstats"};
  ProcFile network_{"/proc/net/dev"};
  std::vector<Pressure> pressures_;
  std::set<std::string, std::less<>> disk_names_;
  std::set<std::string, std::less<>> interface_names_;
  Cpu all_{"machine.cpu"};
  std::deque<Cpu> cores_;  ///< a deque: samples refer to the names
  std::int64_t samples_taken_ = 0;
  std::map<std::string, Rate, std::less<>> disk_busy_;
  Rate disk_read_, disk_written_, received_, sent_;
  std::string buffer_;
};

}  // namespace headway::record
