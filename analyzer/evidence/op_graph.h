// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

/// The op graph with measured times: what the fusion rules look at.
namespace headway::analyzer {

/// One op of the graph with what it cost per steady step on the device where it ran.
struct MeasuredOp {
  const trace::GraphOp* op = nullptr;
  DurationNs time_per_step;     ///< sum of its kernels
  double kernels_per_step = 0;  ///< device ops it needed
};

/// Graph ops that ran in steady steps, in graph order, per process.
std::vector<MeasuredOp> measure_graph(const RuleContext& context);

/// "relu_backward" -> "relu".
std::string_view base_type(std::string_view op_type);
/// True for ops whose time is memory traffic, whether alone or in a chain: normalisation,
/// activation, additions.
bool is_memory_bound_type(std::string_view op_type);

}  // namespace headway::analyzer
