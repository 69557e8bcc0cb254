// SPDX-License-Identifier: MIT
#include "analyzer/rules/op_graph.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {

std::vector<MeasuredOp> measure_graph(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  std::vector<MeasuredOp> measured(trace.graph_ops.size());
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i].op = &trace.graph_ops[i];
  std::vector<DurationNs> total(measured.size());
  std::vector<std::int64_t> kernels(measured.size());
  std::int64_t steps = 0;
  for (const DevicePartition& device : context.partitions) {
    for (const DeviceStep& step : device.steps) {
      if (!context.steps.all.empty() && !context.steps.all[step.step].steady) continue;
      ++steps;
      const std::vector<TimeNs>& starts = trace.device_ops.start;
      auto first = static_cast<std::size_t>(
          std::lower_bound(starts.begin(), starts.end(), step.interval.begin) - starts.begin());
      for (std::size_t i = first; i < starts.size() && starts[i] < step.interval.end; ++i) {
        if (trace.streams[trace.device_ops.stream[i].value].device != device.device) continue;
        trace::GraphOpId graph_op =
            context.attribution.ops[context.attribution.op_of[i].value].graph_op;
        if (!graph_op.valid()) continue;
        total[graph_op.value] += trace.device_ops.end[i] - starts[i];
        ++kernels[graph_op.value];
      }
    }
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
  static constexpr std::array<std::string_view, 14> kTypes = {
      "batch_norm", "relu",  "add", "bias_add",   "gelu",    "tanh",       "sigmoid",
      "dropout",    "scale", "mul", "layer_norm", "softmax", "leaky_relu", "cast"};
  return std::find(kTypes.begin(), kTypes.end(), base_type(op_type)) != kTypes.end();
}

}  // namespace headway::analyzer
