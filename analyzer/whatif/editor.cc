// SPDX-License-Identifier: MIT
#include "analyzer/whatif/editor.h"

#include "analyzer/evidence/loader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace headway::analyzer {

using namespace trace;

Editor::Editor(const Predictor& predictor)
    : program_(predictor.program()),
      points_(predictor.program().graph().points()),
      trace_(predictor.trace()),
      parts_(predictor.parts()),
      processors_(predictor.processors()),
      attribution_(predictor.analysis().attribution) {}

void Editor::set_duration(TaskId task, DurationNs duration, bool modelled) {
  program_.for_each(program_.slot_of(end_of(task)), [&](const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kDuration) scenario_.set(constraint.id, duration, modelled);
  });
}

DurationNs Editor::move_work(TaskId from, TaskId to, DurationNs saved) {
  const Slot begin = program_.slot_of(start_of(from));
  double whole = static_cast<double>(points_.interval(from).length().ns);
  std::vector<std::pair<PartId, DurationNs>> moved;
  for (Slot at = program_.slot_of(end_of(from)); at != begin;) {
    const Constraint inner = program_.own_into(at, begin);
    if (!inner.from.valid()) break;
    const auto length = static_cast<double>(inner.lag.ns);
    const double alone = length * processors_.share_alone(inner.id);
    whole -= length - alone;
    moved.emplace_back(inner.part, std::llround(alone));
    scenario_.set(inner.id, {});
    at = inner.from;
  }
  const DurationNs there{std::llround(std::max(0.0, whole - static_cast<double>(saved.ns)))};
  program_.for_each(program_.slot_of(end_of(to)), [&](const Constraint& constraint) {
    if (constraint.kind != EdgeKind::kDuration) return;
    scenario_.set(constraint.id, there, true);
    for (const auto& [part, length] : moved)
      scenario_.moved.push_back({constraint.id, part, length.ns});
  });
  return there;
}

void Editor::remove_edges(PointId to, EdgeKind kind) {
  program_.for_each(program_.slot_of(to), [&](const Constraint& constraint) {
    if (constraint.kind == kind) scenario_.remove(constraint.id);
  });
}

void Editor::drop_call(CallId call) {
  const TaskId task = points_.task(call);
  set_duration(task, {0});
  remove_edges(end_of(task), EdgeKind::kQueueFull);
  remove_edges(end_of(task), EdgeKind::kDriverLock);
  change_pause(call, [&](const Constraint& constraint) {
    // The communication library's preparation also belongs to the launch.
    const TimeClass its = parts_[constraint.part.value].time_class;
    return its == TimeClass::kLaunchGap || its == TimeClass::kCommTransfer;
  });
}

void Editor::repeat_call(CallId call, int times) {
  const TaskId task = points_.task(call);
  program_.for_each(program_.slot_of(end_of(task)), [&](const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kHostSync)
      scenario_.set(constraint.id, constraint.lag * times, true);
  });
  for (Slot slot = program_.slot_of(start_of(task)); slot.valid();) {
    Slot before;
    program_.for_each(slot, [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kThreadOrder) return;
      const TimeClass its = parts_[constraint.part.value].time_class;
      if (its == TimeClass::kLaunchGap || its == TimeClass::kCommTransfer)
        scenario_.set(constraint.id, constraint.lag * times, true);
      if (!program_.point_of(constraint.from).valid()) before = constraint.from;
    });
    slot = before;
  }
}

void Editor::drop_pause(CallId call) {
  change_pause(call, [](const Constraint&) { return true; });
}

/// Sets to zero the pieces of the pause before a call for which `goes` is true. Cuts divide the
/// pause.
void Editor::change_pause(CallId call, auto goes) {
  for (Slot slot = program_.slot_of(start_of(points_.task(call))); slot.valid();) {
    Slot before;
    program_.for_each(slot, [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kThreadOrder) return;
      if (goes(constraint)) scenario_.set(constraint.id, {0});
      if (!program_.point_of(constraint.from).valid()) before = constraint.from;
    });
    slot = before;
  }
}

void Editor::drop_op(DeviceOpId op) {
  set_op(op, {0});
  drop_launch(op);
  const CallId call = trace_.device_ops.call[op.value];
  if (!call.valid()) return;
  drop_memory_of(call);
  drop_waits_of(call, attribution_.range_of[op.value]);
}

void Editor::drop_collective(DeviceOpId op) {
  drop_op(op);
  remove_edges(end_of(points_.task(op)), EdgeKind::kTransfer);
}

/// Drops the waits of a program that waits for each op: synchronising calls after the launch in the
/// op's own range, if that range launches nothing else.
void Editor::drop_waits_of(CallId launch, RangeId range) {
  if (!range.valid()) return;
  const auto calls = trace_.calls_of_thread[trace_.calls.thread[launch.value]];
  auto at = std::ranges::lower_bound(calls, trace_.ranges.start[range.value], {},
                                     [&](CallId one) { return trace_.calls.start[one.value]; });
  std::vector<CallId> waits;
  for (; at != calls.end() && trace_.calls.start[at->value] < trace_.ranges.end[range.value];
       ++at) {
    if (trace_.calls.op[at->value].valid() && *at != launch) return;
    const DeviceCallKind kind = trace_.calls.kind[at->value];
    if (kind == DeviceCallKind::kStreamSynchronize || kind == DeviceCallKind::kDeviceSynchronize)
      waits.push_back(*at);
  }
  for (CallId call : waits) {
    remove_edges(end_of(points_.task(call)), EdgeKind::kHostSync);
    drop_call(call);
  }
}

/// Allocations right before a launch are for its results. As many later frees are dropped; which
/// ones does not matter, because each takes about as long.
void Editor::drop_memory_of(CallId launch) {
  constexpr int kFar = 256;  // calls
  const auto calls = trace_.calls_of_thread[trace_.calls.thread[launch.value]];
  const auto at =
      std::ranges::lower_bound(calls, trace_.calls.start[launch.value], {},
                               [&](CallId one) { return trace_.calls.start[one.value]; });
  auto drop = [&](CallId call) {
    if (!without_memory_.insert(call).second) return false;
    remove_edges(end_of(points_.task(call)), EdgeKind::kHostSync);
    drop_call(call);
    return true;
  };
  int left = 0;
  for (auto before = at; before != calls.begin();) {
    const DeviceCallKind kind = trace_.calls.kind[(--before)->value];
    if (kind == DeviceCallKind::kAllocate) left += drop(*before);
    if (kind != DeviceCallKind::kAllocate && kind != DeviceCallKind::kFree) break;
  }
  auto after = at;
  for (int i = 0; left > 0 && i < kFar && after != calls.end(); ++i, ++after)
    if (trace_.calls.kind[after->value] == DeviceCallKind::kFree) left -= drop(*after);
}

void Editor::drop_launch(DeviceOpId op) {
  program_.for_each(program_.slot_of(start_of(points_.task(op))),
                    [&](const Constraint& constraint) {
                      if (constraint.kind == EdgeKind::kStreamOrder)
                        scenario_.set(constraint.id, {0});
                    });
  CallId call = trace_.device_ops.call[op.value];
  if (call.valid() && trace_.calls.kind[call.value] != DeviceCallKind::kGraphLaunch)
    drop_call(call);
}

void Editor::join(std::span<const DeviceOpId> kernels, std::optional<std::size_t> inner) {
  for (const DeviceOpId op : kernels.subspan(1)) drop_launch(op);
  const CallId first = trace_.device_ops.call[kernels.front().value];
  const CallId last = trace_.device_ops.call[kernels.back().value];
  if (!first.valid() || !last.valid() || first == last ||
      trace_.calls.thread[first.value] != trace_.calls.thread[last.value])
    return;
  drop_inner_calls(first, last, inner);
}

/// Drops the allocations and frees of tensors inside joined kernels, up to the first call after the
/// last kernel that is no free. Kernels that work in place have no such tensors.
void Editor::drop_inner_calls(CallId first, CallId last, std::optional<std::size_t> inner) {
  const auto calls = trace_.calls_of_thread[trace_.calls.thread[first.value]];
  auto at = std::ranges::lower_bound(calls, trace_.calls.start[first.value], {},
                                     [&](CallId one) { return trace_.calls.start[one.value]; });
  std::size_t tensors = 0;
  for (auto each = at; each != calls.end() && *each != last; ++each)
    tensors += trace_.calls.kind[each->value] == DeviceCallKind::kAllocate;
  tensors = std::min(tensors, inner.value_or(tensors));
  std::size_t allocated = 0;
  std::size_t freed = 0;
  bool inside = true;
  while (++at != calls.end()) {
    const DeviceCallKind kind = trace_.calls.kind[at->value];
    if (!inside && kind != DeviceCallKind::kFree) break;
    const bool frees = kind == DeviceCallKind::kFree && freed < tensors;
    const bool allocates = kind == DeviceCallKind::kAllocate && allocated < tensors;
    freed += frees;
    allocated += allocates;
    inside &= *at != last;
    if (!frees && !allocates && kind != DeviceCallKind::kStreamSynchronize &&
        kind != DeviceCallKind::kDeviceSynchronize)
      continue;
    remove_edges(end_of(points_.task(*at)), EdgeKind::kHostSync);
    drop_call(*at);
  }
}

void Editor::set_op(DeviceOpId op, DurationNs duration, bool modelled) {
  program_.for_each(program_.slot_of(end_of(points_.task(op))), [&](const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kTransfer)
      scenario_.set(constraint.id, std::min(duration, constraint.lag), modelled);
  });
}

void Editor::set_transfer(DeviceOpId op, DurationNs duration, bool modelled) {
  program_.for_each(program_.slot_of(end_of(points_.task(op))), [&](const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kTransfer)
      scenario_.set(constraint.id, duration, modelled);
  });
}

void Editor::scale_message(const Collective& message, double times, BytesTake take) {
  const DeviceId device = trace_.streams[trace_.device_ops.stream[message.op.value].value].device;
  const bool emulated = trace_.devices[device.value].type == DeviceType::kHost;
  scale_transfer(message.op, [&](DurationNs lag) {
    const auto whole = static_cast<double>(lag.ns);
    const double bytes =
        time_of_bytes(static_cast<double>(message.bytes), {0, 1}, whole, emulated).by(take);
    return DurationNs{std::llround(whole + (times - 1) * bytes)};
  });
}

Scenario Editor::take() {
  scenario_.finish();
  return std::move(scenario_);
}

RuleContext rule_context(const Predictor& predictor) {
  const Analysis& analysis = predictor.analysis();
  return {predictor.trace(),
          analysis.steps,
          analysis.attribution,
          analysis.partitions,
          predictor.baseline().recorded,
          predictor.kernels(),
          analysis.work,
          nullptr,
          analysis.program};
}

void scale_stage(const Predictor& predictor, RangeKind stage, double by, Scenario& scenario) {
  const Trace& trace = predictor.trace();
  std::set<StringId> names;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (!info || info->kind != stage) continue;
    // Ranges of whole samples count as reads, and as no other stage.
    if (stage != RangeKind::kRead && trace.strings[trace.ranges.name[r]] == kWholeSamples) continue;
    names.insert(trace.ranges.name[r]);
  }
  // A hook may give reads and decodes the same name.
  const bool reads = stage == RangeKind::kRead;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const auto made = made_by(predictor.parts()[p]);
    if (made && (made->stage == TimeClass::kIoRead) == reads && names.contains(made->name))
      scenario.scale(PartId::from(p), by);
  }
}

std::optional<StageOfPart> made_by(const Part& part) {
  if (part.kind != Part::Kind::kHost) return std::nullopt;
  if (part.stage != TimeClass::kUnknown) return StageOfPart{part.stage, part.stage_name};
  // Without a stage from a range, the part's class may show input by its name.
  if (info(part.time_class).group == TimeGroup::kInput)
    return StageOfPart{part.time_class, part.name};
  return std::nullopt;
}

void scale_input(const Predictor& predictor, double by, Scenario& scenario) {
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const Part& part = predictor.parts()[p];
    if (part.kind == Part::Kind::kHost && info(part.time_class).group == TimeGroup::kInput)
      scenario.scale(PartId::from(p), by);
  }
}

DurationNs shortest_kernel(const DeviceOps& ops) {
  // If no kernel is shorter than this, the rest of its time is work.
  constexpr DurationNs kMost{5'000};
  DurationNs shortest = kMost;
  bool any = false;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != DeviceOpKind::kKernel) continue;
    any = true;
    shortest = std::min(shortest, ops.interval(DeviceOpId{i}).length());
  }
  return any ? shortest : DurationNs{0};
}

}  // namespace headway::analyzer
