// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headway::record {

/// Variables of this process's environment that explain a training run (threads, devices, ranks,
/// launcher), sorted by name. Never one whose name suggests a secret.
std::vector<std::pair<std::string, std::string>> explaining_environment();

struct Machine {
  std::string host;
  std::string kernel;
  std::string cpu;
  int cpu_count = 0;  ///< that this process may run on
  std::int64_t memory_bytes = 0;
};
Machine describe_machine();

}  // namespace headway::record
