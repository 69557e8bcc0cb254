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

/// Writes a scenario in terms of tasks instead of constraints.
class Editor {
 public:
  explicit Editor(const Predictor& predictor);

  /// Another duration for a task's own time.
  void set_duration(TaskId task, DurationNs duration, bool modelled = false);
  /// What a worker did in task `from` is done in `to` instead, with a processor of its own, in `saved` less. Cheaper parts of it
  /// make it shorter. Returns how long it takes there.
  DurationNs move_work(TaskId from, TaskId to, DurationNs saved);
  /// Another length for one constraint. Not `modelled`: no ceiling takes it away, as it is no part of the cause.
  void set_lag(ConstraintId constraint, DurationNs lag, bool modelled = true) {
    scenario_.set(constraint, lag, modelled);
  }
  /// As set_lag; negative: so long before what the constraint is from.
  void set_earlier(ConstraintId constraint, DurationNs lag) {
    scenario_.set_earlier(constraint, lag);
  }
  void remove(ConstraintId constraint) { scenario_.remove(constraint); }
  /// The point waits no longer for edges of this kind.
  void remove_edges(PointId to, EdgeKind kind);
  /// The call is not made: neither it nor the pause before it, as far as that is of issuing work.
  void drop_call(trace::CallId call);
  /// The call is made so many times, with as many pauses before it as far as those are of issuing work. A blocking one wakes up
  /// as often.
  void repeat_call(trace::CallId call, int times);
  /// The op becomes part of the one before it on its stream: it is not launched, and there is no pause
  /// before it.
  void drop_launch(trace::DeviceOpId op);
  /// Kernels of a stream, in their order, become one: the first is launched, the others are not. Nor
  /// does the host do what it did for the tensors inside: allocate and free them, wait for the
  /// kernel before. `inner`: how many tensors are inside, where that is known; else all that are allocated between.
  void join(std::span<const trace::DeviceOpId> kernels, std::optional<std::size_t> inner = {});
  /// The op is not run, nor is it launched, nor has it results to allocate and free, nor does the host wait for it alone;
  /// what waited for it waits for what it waited for.
  void drop_op(trace::DeviceOpId op);
  /// As drop_op for a collective: nor do the ranks meet for it. Of every rank that takes part.
  void drop_collective(trace::DeviceOpId op);
  /// The thread goes on with the call at once, whatever it did before it.
  void drop_pause(trace::CallId call);
  /// As set_duration for a device op, at most what it took; a collective's is its transfer.
  void set_op(trace::DeviceOpId op, DurationNs duration, bool modelled = false);

  /// What a copy takes, or a collective once all ranks have come, shorter or longer than recorded; of one that was not
  /// matched with other ranks, all that it takes.
  void set_transfer(trace::DeviceOpId op, DurationNs duration, bool modelled = false);
  /// A message from rank to rank has so many times the bytes; who begins it stays. Nothing where its other end was not
  /// recorded.
  void scale_message(const trace::Collective& message, double times, BytesTake take);
  /// It is not sent, nor is its other end.
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

/// What the rules see of the predictor's trace.
RuleContext rule_context(const Predictor& predictor);

/// The stage of making a batch that a part belongs to, and its range's name; also of batches for what belongs to no step.
struct StageOfPart {
  TimeClass stage;
  trace::StringId name;
};
std::optional<StageOfPart> made_by(const Part& part);

/// Multiplies what host threads do in the ranges of a loader's stage.
void scale_stage(const Predictor& predictor, trace::RangeKind stage, double by, Scenario& scenario);

/// Multiplies what host threads do to make input, whatever its ranges are called.
void scale_input(const Predictor& predictor, double by, Scenario& scenario);

/// What a kernel takes at least, all start and end: the shortest of the recording, at most 5 µs. Zero without
/// kernels.
DurationNs shortest_kernel(const trace::DeviceOps& ops);

/// Calls `visit(op)` for the kernels of the forward and backward passes. What packs or compresses gradients is of neither: they
/// have the parameters' number type, whatever the passes compute in.
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

/// Mean per steady step of a sum over the device ops that start in those steps.
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

/// "does not apply": the reason.
inline Proposal not_here(std::string why) {
  return {false, std::move(why), {}};
}

}  // namespace headway::analyzer
