// SPDX-License-Identifier: MIT
#include "analyzer/whatif/usual_methods.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/replay/replayer.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// How many ops run on one device at each time.
class Load {
 public:
  Load(const Trace& trace, DeviceId device) {
    std::vector<std::pair<TimeNs, int>> changes;
    for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
      if (trace.streams[trace.device_ops.stream[i].value].device != device) continue;
      changes.emplace_back(trace.device_ops.start[i], 1);
      changes.emplace_back(trace.device_ops.end[i], -1);
    }
    std::sort(changes.begin(), changes.end());
    Level level;
    for (const auto& [time, change] : changes) {
      const DurationNs since = levels_.empty() ? DurationNs{0} : time - level.time;
      if (level.running == 0) level.idle += since;
      if (level.running == 1) level.alone += since;
      level.time = time;
      level.running += change;
      levels_.push_back(level);
    }
  }
  /// The part of `interval` in which no op runs.
  DurationNs idle(Interval interval) const { return at(interval.end, 0) - at(interval.begin, 0); }
  /// The part in which one op runs and no other.
  DurationNs alone(Interval interval) const { return at(interval.end, 1) - at(interval.begin, 1); }

 private:
  struct Level {
    TimeNs time;
    int running = 0;   ///< number of ops from `time` on
    DurationNs idle;   ///< up to `time`, from the first op on
    DurationNs alone;  ///< up to `time`, with one op running
  };
  DurationNs at(TimeNs time, int running) const {
    auto after = std::upper_bound(levels_.begin(), levels_.end(), time,
                                  [](TimeNs t, const Level& level) { return t < level.time; });
    if (after == levels_.begin()) return {0};
    const Level& level = *(after - 1);
    const DurationNs since = level.running == running ? time - level.time : DurationNs{0};
    return (running == 0 ? level.idle : level.alone) + since;
  }

  std::vector<Level> levels_;
};

/// True for tasks of a device, and of host threads of a process that uses it.
class Side {
 public:
  Side(const Points& points, DeviceId device)
      : points_(points), device_(device), uses_(points.trace().processes.size()) {
    for (const Stream& stream : points.trace().streams) {
      if (stream.device == device) uses_[stream.process.value] = true;
    }
  }
  bool has(TaskId task) const {
    const Trace& trace = points_.trace();
    if (const DeviceOpId op = points_.op_of(task); op.valid())
      return trace.streams[trace.device_ops.stream[op.value].value].device == device_;
    const ThreadId thread = points_.thread_of(task);
    return thread.valid() && uses_[trace.threads[thread.value].process.value];
  }

 private:
  const Points& points_;
  const DeviceId device_;
  std::vector<bool> uses_;
};

/// Calls `visit(slot, task)` for the slots in [first, end); a cut belongs to the point after it.
void for_each_slot(const Program& program, std::size_t first, std::size_t end, auto visit) {
  for (std::size_t s = first; s < end; ++s) {
    const PointId point = program.point_of(Slot::from(s));
    if (!point.valid()) continue;
    for (; first <= s; ++first) visit(Slot::from(first), task_of(point));
  }
}

/// True for edges whose lag is the own time of a task or a pause.
bool is_own(EdgeKind kind) {
  return kind == EdgeKind::kDuration || kind == EdgeKind::kTransfer ||
         kind == EdgeKind::kThreadOrder;
}

/// The making of batches, for which the training thread waits.
class BatchMaking {
 public:
  BatchMaking(const Program& program, const Scenario& scenario)
      : points_(program.graph().points()), makes_(points_.trace().threads.size()) {
    const Trace& trace = points_.trace();
    for (RangeId range : points_.ranges()) {
      if (trace.info(range)->kind == RangeKind::kBatch)
        makes_[trace.ranges.thread[range.value].value] = true;
    }
    for (ThreadId thread : trace.calls.thread) makes_[thread.value] = false;  // it trains, too
    DurationNs before;
    DurationNs after;
    for_each_slot(program, 0, program.size(), [&](Slot slot, TaskId task) {
      if (!has(task)) return;
      program.for_each(slot, [&](const Constraint& constraint) {
        if (!is_own(constraint.kind)) return;
        before += constraint.lag;
        after += lag_under(scenario, constraint).value_or(DurationNs{0});
      });
    });
    shorter_ = before.ns > 0 ? 1 - ratio(after, before) : 0;
    for (const Pool& pool : scenario.pools) {
      const auto now = static_cast<double>(std::ranges::count_if(
          pool.tasks, [](const Pool::Task& task) { return !task.after.valid(); }));
      shorter_ = std::max(shorter_, 1 - now / static_cast<double>(pool.workers));
    }
  }
  /// True if the task is on a thread that only makes batches.
  bool has(TaskId task) const {
    const ThreadId thread = points_.thread_of(task);
    return thread.valid() && makes_[thread.value];
  }
  /// The share by which waits shrink, if they shrink in proportion to the making of batches.
  double shorter() const { return shorter_; }

 private:
  const Points& points_;
  std::vector<bool> makes_;
  double shorter_ = 0;
};

/// The part of a slot's exposed time that the scenario removes.
double exposed_saving(const Program& program, const Scenario& scenario, const Load& load,
                      const BatchMaking& making, Slot slot, TaskId task) {
  const Points& points = program.graph().points();
  bool wait_removed = false;
  bool batch_wait = false;
  bool batch_removed = false;
  program.for_each(slot, [&](const Constraint& constraint) {
    const bool removed = !lag_under(scenario, constraint);
    wait_removed |= constraint.kind == EdgeKind::kHostSync && removed;
    batch_wait |= constraint.kind == EdgeKind::kBatch;
    batch_removed |= constraint.kind == EdgeKind::kBatch && removed;
  });
  const auto idle = [&] { return static_cast<double>(load.idle(points.interval(task)).ns); };
  if (wait_removed) return idle();
  if (batch_wait) return idle() * (batch_removed ? 1 : making.shorter());
  double saved = 0;
  program.for_each(slot, [&](const Constraint& constraint) {
    if (!is_own(constraint.kind)) return;
    const DurationNs lag = lag_under(scenario, constraint).value_or(DurationNs{0});
    const Interval interval{program.recorded(constraint.from), program.recorded(slot)};
    if (lag == constraint.lag || interval.length().ns <= 0) return;
    const DurationNs exposed =
        points.op_of(task).valid() ? load.alone(interval) : load.idle(interval);
    saved += static_cast<double>((constraint.lag - lag).ns) * ratio(exposed, interval.length());
  });
  return saved;
}

UsualMethods::Answer subtract(const Predictor& predictor, const Scenario& scenario) {
  const Program& program = predictor.program();
  const MarkedSteps& marked = predictor.steps();
  const DeviceId device = predictor.analysis().partitions[marked.partition].device;
  const Load load(predictor.trace(), device);
  const Side side(program.graph().points(), device);
  const BatchMaking making(program, scenario);
  std::vector<double> length;
  std::vector<TimeNs> ends;
  for (const MarkedStep& step : marked.steps) {
    length.push_back(static_cast<double>(predictor.recorded(step).length().ns));
    ends.push_back(predictor.recorded(step).end);
  }
  for_each_slot(program, marked.steps.front().begin.slot.value + std::size_t{1},
                marked.steps.back().end.slot.value + std::size_t{1}, [&](Slot slot, TaskId task) {
                  if (!side.has(task) || making.has(task)) return;
                  const TimeNs time = program.recorded(slot);
                  const auto step =
                      static_cast<std::size_t>(std::ranges::lower_bound(ends, time) - ends.begin());
                  if (step == ends.size() || time < predictor.recorded(marked.steps[step]).begin)
                    return;  // between steady steps
                  length[step] -= exposed_saving(program, scenario, load, making, slot, task);
                });
  double sum = 0;
  for (double& one : length) {
    one = one / scenario.work;
    sum += one;
  }
  const auto rounded = [](double ns) { return DurationNs{std::llround(std::max(0.0, ns))}; };
  return {rounded(sum / static_cast<double>(length.size())), rounded(median(length))};
}

/// The scenario on the recorded graph: of all constraints that may delay an op, only the one that
/// did is kept, with the recorded gap as its weight.
Scenario as_recorded(const Program& program, const Scenario& scenario) {
  const Points& points = program.graph().points();
  Scenario result;
  for (std::uint32_t s = 0; s < program.size(); ++s) {
    const PointId point = program.point_of(Slot{s});
    if (!point.valid() || !is_start(point) || !points.op_of(task_of(point)).valid()) continue;
    Constraint binding;
    TimeNs arrival = TimeNs::min();
    program.for_each(Slot{s}, [&](const Constraint& constraint) {
      const TimeNs one = program.recorded(constraint.from) + constraint.lag;
      if (binding.from.valid() && one <= arrival) return;
      binding = constraint;
      arrival = one;
    });
    program.for_each(Slot{s}, [&](const Constraint& constraint) {
      const std::optional<DurationNs> lag = lag_under(scenario, constraint);
      if (!lag || constraint.id != binding.id) {
        result.remove(constraint.id);
      } else {
        result.set(constraint.id, *lag + (program.recorded(Slot{s}) - arrival));
      }
    });
  }
  result.finish();
  result.factor = scenario.factor;
  result.pools = scenario.pools;
  result.visits = scenario.visits;
  result.places = scenario.places;
  result.work = scenario.work;
  for (const Edit& edit : scenario.edits) {
    if (!std::binary_search(
            result.edits.begin(), result.edits.end(), edit,
            [](const Edit& a, const Edit& b) { return a.constraint < b.constraint; }))
      result.edits.push_back(edit);
  }
  result.finish();
  return result;
}

}  // namespace

UsualMethods usual_methods(const Predictor& predictor, const Scenario& scenario) {
  const Prediction path = predictor.predict(as_recorded(predictor.program(), scenario));
  return {subtract(predictor, scenario), {path.step, path.median}};
}

}  // namespace headway::analyzer
