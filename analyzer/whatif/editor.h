// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <span>

#include "analyzer/evidence/rule.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/time_of_bytes.h"

namespace headway::analyzer {

/// Builds a scenario in terms of tasks (ops, calls, messages) instead of constraints.
class Editor {
 public:
  explicit Editor(const Predictor& predictor);

  /// Sets a task's own time. `modelled`: from a formula (see set_lag).
  void set_duration(TaskId task, DurationNs duration, bool modelled = false);
  /// Moves a worker's work in task `from` into task `to`, with a processor of its own and `saved`
  /// less time. If its parts get cheaper, it gets shorter. Returns its duration in `to`.
  DurationNs move_work(TaskId from, TaskId to, DurationNs saved);
  /// Sets the length of one constraint. If not `modelled`, ceilings keep this length, because it is
  /// not part of the cause.
  void set_lag(ConstraintId constraint, DurationNs lag, bool modelled = true) {
    scenario_.set(constraint, lag, modelled);
  }
  /// As set_lag, but the lag may be negative: before the point that the constraint comes from.
  void set_earlier(ConstraintId constraint, DurationNs lag) {
    scenario_.set_earlier(constraint, lag);
  }
  void remove(ConstraintId constraint) { scenario_.remove(constraint); }
  /// Removes the edges of this kind that lead to the point.
  void remove_edges(PointId to, EdgeKind kind);
  /// Removes the call and the part of the pause before it that is spent on issuing work.
  void drop_call(trace::CallId call);
  /// Makes the call `times` times, each with the part of the pause before it that is spent on
  /// issuing work. A blocking call also wakes up each time.
  void repeat_call(trace::CallId call, int times);
  /// Merges the op into the previous one on its stream: it is not launched, and the gap before it
  /// is removed.
  void drop_launch(trace::DeviceOpId op);
  /// Merges kernels of a stream, in their order, into one: only the first is launched. The host's
  /// work for the tensors in between is removed, too: allocating, freeing and waiting for the
  /// kernel before. `inner`: number of these tensors, if known; else all that are allocated in
  /// between.
  void join(std::span<const trace::DeviceOpId> kernels, std::optional<std::size_t> inner = {});
  /// Removes the op, its launch, the allocation and freeing of its results, and the host's waits
  /// for it alone. What waited for the op then waits for what the op waited for.
  void drop_op(trace::DeviceOpId op);
  /// As drop_op for a collective, and its ranks no longer wait for each other. Call it for the op
  /// of every rank.
  void drop_collective(trace::DeviceOpId op);
  /// Removes the pause before the call, whatever the thread did in it.
  void drop_pause(trace::CallId call);
  /// As set_duration for a device op, but it never gets longer. For a collective, this is its
  /// transfer.
  void set_op(trace::DeviceOpId op, DurationNs duration, bool modelled = false);

  /// Sets the time of a copy, or of a collective after all ranks have arrived, shorter or longer
  /// than recorded. For a collective that was not matched with other ranks, sets its whole
  /// duration.
  void set_transfer(trace::DeviceOpId op, DurationNs duration, bool modelled = false);
  /// Gives a message between two ranks `times` its bytes; its start stays. No effect if its other
  /// end was not recorded.
  void scale_message(const trace::Collective& message, double times, BytesTake take);
  /// Sets the transfer of a message between two ranks to zero.
  void drop_message(trace::DeviceOpId message) {
    scale_transfer(message, [](DurationNs) { return DurationNs{}; });
  }

  bool empty() const { return scenario_.edits.empty() && scenario_.factor.empty(); }
  Scenario take();

 private:
  void drop_inner_calls(trace::CallId first, trace::CallId last, std::optional<std::size_t> inner);
  void drop_memory_of(trace::CallId launch);
  void drop_waits_of(trace::CallId launch, trace::RangeId range);
  void change_pause(trace::CallId call, auto goes);
  template <class Other>
  void scale_transfer(trace::DeviceOpId message, Other other) {
    program_.for_each(program_.slot_of(end_of(points_.task(message))),
                      [&](const Constraint& constraint) {
                        if (constraint.kind == EdgeKind::kTransfer)
                          set_lag(constraint.id, other(constraint.lag));
                      });
  }

  const Program& program_;
  const Points& points_;
  const trace::Trace& trace_;
  const std::vector<Part>& parts_;
  const SharedProcessors& processors_;
  const Attribution& attribution_;
  Scenario scenario_;
  std::set<trace::CallId>
      without_memory_;  ///< allocations and frees that ops without results do not make
};

/// The context of rules for the predictor's trace, without a job.
RuleContext rule_context(const Predictor& predictor);

/// The stage of making a batch that a part belongs to, and the name of its range.
struct StageOfPart {
  TimeClass stage;
  trace::StringId name;
};
/// Also covers batches of work between steps. Nothing if the part does not make input.
std::optional<StageOfPart> made_by(const Part& part);

/// Multiplies the time of host threads in the ranges of a loader's stage.
void scale_stage(const Predictor& predictor, trace::RangeKind stage, double by, Scenario& scenario);

/// Multiplies the time of host threads that make input, whatever the names of their ranges.
void scale_input(const Predictor& predictor, double by, Scenario& scenario);

/// Least time of a kernel, which is only its start and end: the shortest of the recording, at most
/// 5 µs. Zero without kernels.
DurationNs shortest_kernel(const trace::DeviceOps& ops);

/// Calls `visit(op)` for the kernels of the forward and backward passes. Kernels that pack or
/// compress gradients are left out: gradients have the parameters' number type, whatever the passes
/// use.
template <class Visit>
void for_each_kernel_of_passes(const Predictor& predictor, Visit visit) {
  const trace::DeviceOps& ops = predictor.trace().device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  auto is_of_passes = [&](std::uint32_t op) {
    const trace::Phase phase = attribution.phase_of[op];
    return phase != trace::Phase::kUpdate && phase != trace::Phase::kCommunication &&
           attribution.class_of[op] != TimeClass::kCommTransfer;
  };
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == trace::DeviceOpKind::kKernel && is_of_passes(i)) visit(trace::DeviceOpId{i});
}

/// Mean per steady step of the sum of `measure(op)` over the device ops that start in these steps.
template <class Measure>
DurationNs per_step(const Predictor& predictor, Measure measure) {
  const Analysis& analysis = predictor.analysis();
  const DevicePartition& partition = analysis.partitions[predictor.steps().partition];
  DurationNs sum;
  std::int64_t steps =
      for_each_steady_op(predictor.trace(), analysis.steps, partition,
                         [&](const DeviceStep&, trace::DeviceOpId op) { sum += measure(op); });
  return sum / std::max<std::int64_t>(1, steps);
}

/// A proposal that does not apply, with the reason.
inline Proposal not_here(std::string why) {
  return {false, std::move(why), {}};
}

}  // namespace headway::analyzer
