// SPDX-License-Identifier: MIT
#include "analyzer/evidence/round_trips.h"

#include <vector>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using trace::DeviceOpId;
using trace::DeviceOpKind;

constexpr std::int64_t kMoreThanScalars = 64;

/// Time of `where` in which the device waits for input, by the partition; `segment` walks forward.
DurationNs input_in(const DevicePartition& device, Interval where, std::size_t& segment) {
  const std::vector<Segment>& segments = device.segments;
  while (segment < segments.size() && segments[segment].interval.end <= where.begin) ++segment;
  DurationNs sum;
  for (std::size_t i = segment; i < segments.size() && segments[i].interval.begin < where.end;
       ++i) {
    if (info(segments[i].time_class).group == TimeGroup::kInput)
      sum += intersect(segments[i].interval, where).length();
  }
  return sum;
}

}  // namespace

std::int64_t for_each_round_trip(const RuleContext& context, const DevicePartition& device,
                                 const std::function<void(DeviceOpId, DeviceOpId)>& visit) {
  const trace::DeviceOps& ops = context.trace.device_ops;
  struct Last {
    DeviceOpId op;
    std::uint32_t step = 0;
  };
  std::vector<Last> last(context.trace.threads.size());  // enqueued by each thread
  std::size_t segment = 0;
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
            context.trace.calls.start[call.value] >= ops.end[previous.value]) {
          const Interval trip{ops.start[previous.value], ops.end[op.value]};
          // Else the copy back is the next batch, and that time belongs to input-bound.
          if (input_in(device, trip, segment) * 2 <= trip.length()) visit(previous, op);
        }
      });
}

}  // namespace headway::analyzer
