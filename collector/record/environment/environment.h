// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headway::record {

/// Variables of this process's environment that explain a training run (threads, devices, ranks,
/// launcher), sorted by name. Variables whose names suggest a secret are left out.
std::vector<std::pair<std::string, std::string>> explaining_environment();

/// This machine, for the trace. Values that the system does not give are empty or 0.
struct Machine {
  std::string host;               ///< name
  std::string kernel;             ///< "Linux 6.1.0-13-amd64 x86_64"
  std::string cpu;                ///< model, as /proc/cpuinfo names it
  int cpu_count = 0;              ///< processors on which this process may run
  std::int64_t memory_bytes = 0;  ///< of the machine, not of a container
};
Machine describe_machine();

}  // namespace headway::record
