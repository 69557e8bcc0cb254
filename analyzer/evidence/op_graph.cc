// SPDX-License-Identifier: MIT
#include "analyzer/evidence/op_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {

std::vector<MeasuredOp> measure_graph(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  std::vector<MeasuredOp> measured(trace.graph_ops.size());
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i].op = &trace.graph_ops[i];
  std::vector<DurationNs> total(measured.size());
  std::vector<std::int64_t> kernels(measured.size());
  std::int64_t steps = 0;
  for (const DevicePartition& device : context.partitions) {
    steps += for_each_steady_op(
        trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
          trace::GraphOpId graph_op =
              context.attribution.ops[context.attribution.op_of[op.value].value].graph_op;
          if (!graph_op.valid()) return;
          total[graph_op.value] += trace.device_ops.interval(op).length();
          ++kernels[graph_op.value];
        });
  }
  for (std::size_t i = 0; i < measured.size() && steps > 0; ++i) {
    measured[i].time_per_step = total[i] / steps;
    measured[i].kernels_per_step = static_cast<double>(kernels[i]) / static_cast<double>(steps);
  }
  return measured;
}

std::string_view base_type(std::string_view op_type) {
  constexpr std::string_view kBackward = "_backward";
  if (op_type.ends_with(kBackward)) op_type.remove_suffix(kBackward.size());
  return op_type;
}

bool is_memory_bound_type(std::string_view op_type) {
  static constexpr std::array<std::string_view, 19> kTypes = {
      "batch_norm", "relu",  "add",      "bias_add",   "gelu",    "tanh",       "sigmoid",
      "dropout",    "scale", "mul",      "layer_norm", "softmax", "leaky_relu", "cast",
      "sub",        "rsqrt", "row_mean", "row_sum",    "spread"};
  return std::find(kTypes.begin(), kTypes.end(), base_type(op_type)) != kTypes.end();
}

std::vector<std::int64_t> extents_in(std::string_view shape) {
  std::vector<std::int64_t> extents;
  const char* end = shape.data() + shape.size();
  for (const char* at = shape.data(); at < end;) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc() && number > 0) extents.push_back(number);
    at = next == at ? at + 1 : next;
  }
  return extents;
}

std::int64_t elements_in(std::string_view shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t product = 0;
  for (const std::int64_t extent : extents_in(shape)) {
    if (product > kMost / extent) return kMost;
    product = std::max<std::int64_t>(product, 1) * extent;
  }
  return product;
}

}  // namespace headway::analyzer
