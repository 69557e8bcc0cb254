// SPDX-License-Identifier: MIT
// Sharded parameters are gathered one layer ahead: a layer's all-gather begins when the previous
// layer begins to compute, after a reduce-scatter that runs at that time.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/parameter_gathers.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// True if the call made the host wait for the whole device. It would also wait for an all-gather
/// that is issued before it.
bool waits_for_device(const Predictor& predictor, CallId call) {
  const DeviceCallKind kind = predictor.trace().calls.kind[call.value];
  if (kind != DeviceCallKind::kFree && kind != DeviceCallKind::kDeviceSynchronize) return false;
  const Program& program = predictor.program();
  bool waits = false;
  program.for_each(
      program.slot_of(end_of(program.graph().points().task(call))),
      [&](const Constraint& constraint) { waits |= constraint.kind == EdgeKind::kHostSync; });
  return waits;
}

struct Asked {
  DurationNs earlier;
  bool host_waits = false;  ///< for the device, in between
};

/// How much earlier the host issues the all-gather if it does so before the compute that it
/// overlaps. If the host waits for the device before it launches the rest of that compute, only the
/// compute until then overlaps.
Asked asked_earlier(const Predictor& predictor, const LateGather& late) {
  const Trace& trace = predictor.trace();
  const CallId own = trace.device_ops.call[late.gather.value];
  const CallId first = trace.device_ops.call[late.first.value];
  if (!own.valid() || !first.valid() ||
      trace.calls.thread[own.value] != trace.calls.thread[first.value])
    return {};
  const DurationNs most =
      std::max(DurationNs{0}, trace.calls.start[own.value] - trace.calls.start[first.value]);
  const TimeNs begun = trace.device_ops.start[late.first.value];
  const auto calls = trace.calls_of_thread[trace.calls.thread[own.value]];
  auto call = std::ranges::lower_bound(calls, trace.calls.start[first.value], {},
                                       [&](CallId one) { return trace.calls.start[one.value]; });
  for (; call != calls.end() && *call != own; ++call)
    if (trace.calls.end[call->value] > begun && waits_for_device(predictor, *call))
      return {std::min(most, trace.calls.end[call->value] - begun), true};
  return {most};
}

void ask_ahead(const Predictor& predictor, const LateGather& late, Editor& editor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Program& program = predictor.program();
  const Points& points = program.graph().points();
  const Asked asked = asked_earlier(predictor, late);
  // A reduce-scatter at the begin of the layer precedes the all-gather on the link. If the host
  // waits in between, that reduce-scatter has ended by the recorded start of the all-gather.
  TimeNs free = ops.start[late.first.value] + late.link_busy;
  if (asked.host_waits) free = std::min(free, ops.start[late.gather.value]);
  program.for_each(
      program.slot_of(start_of(points.task(late.gather))), [&](const Constraint& constraint) {
        const PointId from = program.point_of(constraint.from);
        const DeviceOpId behind = from.valid() ? points.op_of(task_of(from)) : DeviceOpId::none();
        const bool is_ahead =
            behind.valid() && std::ranges::find(late.ahead, behind) != late.ahead.end();
        if (constraint.kind == EdgeKind::kEventWait && behind.valid() && !is_ahead)
          editor.set_earlier(constraint.id, free - ops.end[behind.value]);
        else if (is_ahead)
          editor.remove(constraint.id);
        else if (constraint.kind == EdgeKind::kLaunch)
          editor.set_earlier(constraint.id, constraint.lag - asked.earlier);
      });
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  Editor editor(predictor);
  std::size_t late = 0;
  std::int64_t gathers = 0;
  for (const DevicePartition& partition : predictor.analysis().partitions) {
    if (!partition.device.valid()) continue;
    const ParameterGathers its = find_parameter_gathers(context, partition);
    gathers += its.gathers;
    late += its.late.size();
    for (const LateGather& one : its.late) ask_ahead(predictor, one, editor);
  }
  if (gathers == 0) return not_here("no parameter all-gather in a step");
  if (late == 0) return not_here("parameter all-gathers already begin during compute");
  Proposal proposal{
      true, fmt::format("{} parameter all-gathers begin during the layer before theirs", late),
      editor.take()};
  // Streams share the link, so the step takes at least the time of all communication.
  const DevicePartition& judged = predictor.analysis().partitions[predictor.steps().partition];
  proposal.scenario.at_least =
      judged.hidden_comm + judged.per_steady_step[TimeClass::kCommTransfer];
  return proposal;
}

}  // namespace

const Fix kPrefetchAllGathers{
    "prefetch-all-gathers",
    "Gather parameters one layer ahead",
    "late-all-gather, comm-exposed",
    FixKind::kStructural,
    0.1,
    "--gather-prefetch on",
    "A parameter all-gather that began after the preceding compute begins with it, after pending "
    "reduce-scatters. A step lasts at least as long as its communication.",
    "whether memory holds one more gathered layer, and the slowdown of overlapped kernels",
    propose};

}  // namespace headway::analyzer
