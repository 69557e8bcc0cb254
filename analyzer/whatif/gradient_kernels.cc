// SPDX-License-Identifier: MIT
#include "analyzer/whatif/gradient_kernels.h"

#include "analyzer/whatif/kernel_rates.h"

namespace headway::analyzer {

using namespace trace;

double gradient_bytes_per_ns(const Predictor& predictor, DeviceId device) {
  const Trace& trace = predictor.trace();
  if (trace.devices[device.value].type != DeviceType::kHost)
    return memory_bytes_per_ns(predictor, device);
  const auto copy = predictor.machine().of_host(trace, MachineFigure::kHostCopy);
  return copy ? 2 * copy->value.p50 / 1e9 : 0;
}

void launch_more(const Predictor& predictor, DeviceOpId op, int launches, Editor& editor) {
  const DependencyGraph& graph = predictor.program().graph();
  const CallId call = predictor.trace().device_ops.call[op.value];
  if (!call.valid()) return;
  const TaskId task = graph.points().task(call);
  editor.set_duration(task, graph.base(task) * (1 + launches), true);
}

}  // namespace headway::analyzer
