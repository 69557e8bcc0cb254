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

/// The positive numbers in a shape, in order: "4x32x32x3", "[[4, 3], []]".
std::vector<std::int64_t> extents_in(std::string_view shape);
/// The product of these numbers; 0 if there are none; the largest int64 if it would overflow.
std::int64_t elements_in(std::string_view shape);

}  // namespace headway::analyzer
