// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/graph.h"

namespace headway::analyzer {

/// A delay in use that the recording shows too seldom to measure it there.
struct Assumption {
  std::string_view
      delay;  ///< "launch", "graph_launch", "kernel_gap", "sync", "blocking_call", "batch"
  std::string_view label;  ///< "kernel gap"
  DurationNs value;
  FactOrigin origin = FactOrigin::kDefault;
  std::string source;                 ///< "default", "measured 2026-11-22 on NVIDIA H200"
  std::int64_t seen = 0;              ///< times that the recording shows it: fewer than 20
  std::vector<std::int32_t> devices;  ///< ordinals; empty: a delay of the host
};

/// The assumptions that the graph has edges for, in a fixed order. Equal ones of several devices are
/// merged.
std::vector<Assumption> assumptions_of(const DependencyGraph& graph);

/// "kernel gap 1.30 µs: default; this recording never shows it"
std::string to_text(const Assumption& assumption);

}  // namespace headway::analyzer
