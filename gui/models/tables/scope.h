// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/analysis.h"
#include "analyzer/partition/steady_ops.h"
#include "trace/trace.h"

namespace headway::gui {

/// The part of the trace that figures are computed over.
enum class Scope : std::uint8_t {
  kSteady,  ///< the steady steps; the whole trace if there are none
  kWhole,
};

inline bool has_steady_steps(const analyzer::Analysis& analysis) {
  return !analysis.steps.steady.empty();
}

/// Calls `visit(op)` for every device op in scope. Returns the number of steps times devices that
/// the ops belong to; 0: the whole trace.
template <class Visit>
std::int64_t visit_ops(const trace::Trace& trace, const analyzer::Analysis& analysis, Scope scope,
                       Visit visit) {
  std::int64_t steps = 0;
  if (scope == Scope::kSteady && has_steady_steps(analysis)) {
    for (const analyzer::DevicePartition& partition : analysis.partitions) {
      if (!partition.device.valid()) continue;
      steps += analyzer::for_each_steady_op(
          trace, analysis.steps, partition,
          [&](const analyzer::DeviceStep&, trace::DeviceOpId op) { visit(op); });
    }
    if (steps) return steps;
  }
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) visit(trace::DeviceOpId{i});
  return 0;
}

}  // namespace headway::gui
