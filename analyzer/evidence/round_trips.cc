// SPDX-License-Identifier: MIT
#include "analyzer/evidence/round_trips.h"

#include <vector>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using trace::DeviceOpId;
using trace::DeviceOpKind;

constexpr std::int64_t kMoreThanScalars = 64;

}  // namespace

std::int64_t for_each_round_trip(const RuleContext& context, const DevicePartition& device,
                                 const std::function<void(DeviceOpId, DeviceOpId)>& visit) {
  const trace::DeviceOps& ops = context.trace.device_ops;
  struct Last {
    DeviceOpId op;
    std::uint32_t step = 0;
  };
  std::vector<Last> last(context.trace.threads.size());  // enqueued by each thread
  return for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep& step, DeviceOpId op) {
        trace::CallId call = ops.call[op.value];
        if (!call.valid()) return;
        Last& before = last[context.trace.calls.thread[call.value].value];
        DeviceOpId previous = before.op;
        bool same_step = previous.valid() && before.step == step.step;
        before = {op, step.step};
        if (same_step && ops.kind[op.value] == DeviceOpKind::kCopyHostToDevice &&
            ops.kind[previous.value] == DeviceOpKind::kCopyDeviceToHost &&
            ops.bytes[previous.value] >= kMoreThanScalars &&
            context.trace.calls.start[call.value] >= ops.end[previous.value])
          visit(previous, op);
      });
}

}  // namespace headway::analyzer
