// SPDX-License-Identifier: MIT
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

using namespace trace;

Editor::Editor(const Predictor& predictor)
    : program_(predictor.program()),
      points_(predictor.program().graph().points()),
      trace_(predictor.trace()),
      parts_(predictor.parts()) {}

void Editor::set_duration(TaskId task, DurationNs duration, bool modelled) {
  program_.for_each(program_.slot_of(end_of(task)), [&](const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kDuration) scenario_.set(constraint.id, duration, modelled);
  });
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
  // The pause before it, cut by cut.
  for (Slot slot = program_.slot_of(start_of(task)); slot.valid();) {
    Slot before;
    program_.for_each(slot, [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kThreadOrder) return;
      // What the communication library prepares is for its launch, too.
      const TimeClass its = parts_[constraint.part.value].time_class;
      if (its == TimeClass::kLaunchGap || its == TimeClass::kCommTransfer)
        scenario_.set(constraint.id, {0});
      if (!program_.point_of(constraint.from).valid()) before = constraint.from;
    });
    slot = before;
  }
}

void Editor::drop_op(DeviceOpId op) {
  set_op(op, {0});
  drop_launch(op);
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

Scenario Editor::take() {
  scenario_.finish();
  return std::move(scenario_);
}

DurationNs shortest_kernel(const DeviceOps& ops) {
  DurationNs shortest{INT64_MAX};
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] == DeviceOpKind::kKernel)
      shortest = std::min(shortest, ops.interval(DeviceOpId{i}).length());
  }
  return shortest.ns == INT64_MAX ? DurationNs{0} : shortest;
}

}  // namespace headway::analyzer
