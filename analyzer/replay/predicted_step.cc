// SPDX-License-Identifier: MIT
#include "analyzer/replay/predicted_step.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analyzer/replay/predictor.h"
#include "analyzer/replay/replayer.h"

namespace headway::analyzer {
namespace {

using namespace trace;

bool overlap(Interval when, Interval window) {
  return when.begin < window.end && (when.end > window.begin || when.begin == window.begin);
}

/// A moment of a thread that both timelines know. Between two of them its time passes evenly.
struct Knot {
  TimeNs recorded;
  TimeNs predicted;
};

TimeNs moved(const std::vector<Knot>& knots, TimeNs time) {
  auto after = std::upper_bound(knots.begin(), knots.end(), time,
                                [](TimeNs at, const Knot& knot) { return at < knot.recorded; });
  if (after == knots.begin()) return after->predicted + (time - after->recorded);
  const Knot& from = *(after - 1);
  if (after == knots.end()) return from.predicted + (time - from.recorded);
  const double share = ratio(time - from.recorded, after->recorded - from.recorded);
  return from.predicted + DurationNs{std::llround(
                              share * static_cast<double>((after->predicted - from.predicted).ns))};
}

class Reader {
 public:
  Reader(const Predictor& predictor, const Scenario& scenario, const MarkedStep& step,
         const std::vector<std::int64_t>& times)
      : predictor_(predictor),
        trace_(predictor.trace()),
        program_(predictor.program()),
        points_(program_.graph().points()),
        scenario_(scenario),
        times_(times) {
    result_.step = step.step;
    result_.recorded = predictor.recorded(step);
    const TimeNs begin{time_of(step.begin, times)};
    to_recorded_ = result_.recorded.begin - begin;
    result_.replayed_tasks = TimeNs{time_of(step.end, times)} - begin;
    result_.predicted = std::max(result_.replayed_tasks, scenario.at_least);
    window_ = {result_.recorded.begin, result_.recorded.begin + result_.replayed_tasks};
  }

  PredictedStep read() {
    read_ops();
    for (std::size_t i = 0; i < points_.ranges().size(); ++i) add_if_inside(points_.range_task(i));
    std::sort(tasks_.begin(), tasks_.end());
    for (ThreadId thread : result_.threads) {
      for_each_inside(trace_.calls_of_thread[thread],
                      [&](CallId call) { add_if_inside(points_.task(call)); });
      read_ranges(thread);
    }
    std::stable_sort(result_.tasks.begin(), result_.tasks.end(),
                     [](const PredictedTask& a, const PredictedTask& b) {
                       return std::tuple(a.predicted.begin, a.recorded.begin, a.event) <
                              std::tuple(b.predicted.begin, b.recorded.begin, b.event);
                     });
    return std::move(result_);
  }

 private:
  TimeNs time(PointId point) const {
    return TimeNs{times_[program_.slot_of(point).value]} + to_recorded_;
  }
  Interval predicted(TaskId task) const { return {time(start_of(task)), time(end_of(task))}; }

  /// Calls `visit` once for each event of a thread or stream that lies in the step as recorded or as
  /// predicted. `events` are by start in both timelines.
  template <class EventId, class Visit>
  void for_each_inside(std::span<const EventId> events, Visit visit) const {
    auto inside = [&](auto interval_of, Interval window) {
      auto first = std::partition_point(events.begin(), events.end(), [&](EventId event) {
        return interval_of(points_.task(event)).begin < window.begin;
      });
      // The event before may reach into it.
      if (first != events.begin()) --first;
      auto last = std::partition_point(first, events.end(), [&](EventId event) {
        return interval_of(points_.task(event)).begin < window.end;
      });
      return std::pair(first, last);
    };
    auto [a, a_end] = inside([&](TaskId task) { return points_.interval(task); }, result_.recorded);
    auto [b, b_end] = inside([&](TaskId task) { return predicted(task); }, window_);
    if (b < a) {
      std::swap(a, b);
      std::swap(a_end, b_end);
    }
    for (auto at = a; at != a_end; ++at) visit(*at);
    for (auto at = std::max(b, a_end); at < b_end; ++at) visit(*at);
  }

  void read_ops() {
    const Analysis& analysis = predictor_.analysis();
    const DevicePartition& partition = analysis.partitions[predictor_.steps().partition];
    std::vector<bool> known(trace_.threads.size());
    auto add_thread = [&](ThreadId thread) {
      if (!thread.valid() || known[thread.value]) return;
      known[thread.value] = true;
      result_.threads.push_back(thread);
    };
    add_thread(result_.step < analysis.steps.all.size() ? analysis.steps.all[result_.step].thread
                                                        : partition.thread);
    add_thread(partition.thread);
    for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
      const Stream& stream = trace_.streams[s];
      const bool mine = partition.device.valid()
                            ? stream.device == partition.device
                            : stream.process == trace_.threads[partition.thread.value].process;
      if (!mine) continue;
      for_each_inside(trace_.ops_of_stream[StreamId::from(s)], [&](DeviceOpId op) {
        if (!add_if_inside(points_.task(op))) return;
        const CallId call = trace_.device_ops.call[op.value];
        if (call.valid()) add_thread(trace_.calls.thread[call.value]);
      });
    }
  }

  bool add_if_inside(TaskId task) {
    PredictedTask one{points_.event_of(task), points_.interval(task), predicted(task),
                      fate_of(task), false};
    if (!overlap(one.recorded, result_.recorded) && !overlap(one.predicted, window_)) return false;
    if (one.fate == Fate::kGone) one.predicted.end = one.predicted.begin;
    if (one.event.kind == EventRef::Kind::kRange) tasks_.push_back(one.event);
    result_.tasks.push_back(one);
    return true;
  }

  Fate fate_of(TaskId task) const {
    if (takes_no_time(task)) return Fate::kGone;
    const DeviceOpId op = points_.op_of(task);
    const CallId call = op.valid() ? trace_.device_ops.call[op.value] : CallId::none();
    return call.valid() && takes_no_time(points_.task(call)) ? Fate::kJoined : Fate::kStays;
  }

  /// True when the task had its own duration and the scenario leaves nothing of it.
  bool takes_no_time(TaskId task) const {
    bool none = false;
    program_.for_each(program_.slot_of(end_of(task)), [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kDuration && constraint.kind != EdgeKind::kTransfer) return;
      if (constraint.lag.ns <= 0) return;
      if (lag_under(scenario_, constraint).value_or(DurationNs{}).ns == 0) none = true;
    });
    return none && predicted(task).empty();
  }

  /// The moments of a thread around the predicted step, by time in both timelines.
  std::vector<Knot> knots_of(ThreadId thread) const {
    std::span<const CallId> calls = trace_.calls_of_thread[thread];
    auto starts_before = [&](TimeNs limit) {
      return std::partition_point(calls.begin(), calls.end(), [&](CallId call) {
        return time(start_of(points_.task(call))) < limit;
      });
    };
    auto first = starts_before(window_.begin);
    auto last = starts_before(window_.end);
    if (first != calls.begin()) --first;
    if (last != calls.end()) ++last;
    std::vector<Knot> knots;
    auto add = [&](PointId point) {
      // Also the cuts in host time that lead to it.
      for (Slot slot = program_.slot_of(point);; --slot.value) {
        knots.push_back({program_.recorded(slot), TimeNs{times_[slot.value]} + to_recorded_});
        if (slot.value == 0 || program_.point_of({slot.value - 1}).valid()) break;
      }
    };
    for (auto call = first; call != last; ++call) {
      add(start_of(points_.task(*call)));
      add(end_of(points_.task(*call)));
    }
    std::stable_sort(knots.begin(), knots.end(),
                     [](const Knot& a, const Knot& b) { return a.recorded < b.recorded; });
    for (std::size_t i = 1; i < knots.size(); ++i)
      knots[i].predicted = std::max(knots[i].predicted, knots[i - 1].predicted);
    return knots;
  }

  /// Adds the ranges of a thread that are not tasks and lie in the predicted step.
  void read_ranges(ThreadId thread) {
    const std::vector<Knot> knots = knots_of(thread);
    if (knots.empty()) return;
    std::span<const RangeId> ranges = trace_.ranges_of_thread[thread];
    auto first = std::partition_point(ranges.begin(), ranges.end(), [&](RangeId range) {
      return trace_.ranges.start[range.value] < knots.front().recorded;
    });
    if (first != ranges.begin()) {
      for (RangeId open = *(first - 1); open.valid(); open = trace_.ranges.parent[open.value])
        add_range(open, knots);
    }
    for (auto range = first; range != ranges.end(); ++range) {
      if (trace_.ranges.start[range->value] >= knots.back().recorded) break;
      add_range(*range, knots);
    }
  }

  void add_range(RangeId range, const std::vector<Knot>& knots) {
    const EventRef event = EventRef::of(range);
    if (std::binary_search(tasks_.begin(), tasks_.end(), event)) return;
    const Interval recorded = trace_.ranges.interval(range);
    const Interval when{moved(knots, recorded.begin), moved(knots, recorded.end)};
    if (!overlap(when, window_)) return;
    result_.tasks.push_back({event, recorded, when, Fate::kStays, true});
  }

  const Predictor& predictor_;
  const Trace& trace_;
  const Program& program_;
  const Points& points_;
  const Scenario& scenario_;
  const std::vector<std::int64_t>& times_;
  DurationNs to_recorded_;       ///< from times of the replay to times of the recording
  Interval window_;              ///< the predicted step, at the time of the recorded one
  std::vector<EventRef> tasks_;  ///< ranges that are tasks themselves
  PredictedStep result_;
};

/// Gains may differ a lot from step to step (a host that runs ahead waits for input in one of them):
/// takes, of the steps of usual length, the one whose gain is closest to the average.
std::size_t typical_step(const Predictor& predictor, const Scenario& scenario,
                         const std::vector<std::int64_t>& times) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  auto length = [&](std::size_t i) { return predictor.recorded(steps[i]).length().ns; };
  auto gain = [&](std::size_t i) {
    const std::int64_t predicted = time_of(steps[i].end, times) - time_of(steps[i].begin, times);
    return predictor.replayed(i).ns - std::max(predicted, scenario.at_least.ns);
  };
  std::vector<std::int64_t> lengths;
  std::vector<std::size_t> order;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back(length(i));
    order.push_back(i);
    sum += gain(i);
  }
  std::sort(lengths.begin(), lengths.end());
  const std::int64_t median = lengths[(lengths.size() - 1) / 2];
  const std::int64_t mean = sum / static_cast<std::int64_t>(steps.size());
  auto closest = [&](auto end, auto distance) {
    std::stable_sort(order.begin(), end,
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  };
  closest(order.end(), [&](std::size_t i) { return std::abs(length(i) - median); });
  closest(order.begin() + static_cast<std::ptrdiff_t>((order.size() + 1) / 2),
          [&](std::size_t i) { return std::abs(gain(i) - mean); });
  return order.front();
}

}  // namespace

PredictedStep predict_timeline(const Predictor& predictor, const Scenario& scenario,
                               std::optional<std::size_t> step) {
  Replayer replayer(predictor.program());
  const std::optional<Scenario> shared = predictor.processors().settled(replayer, scenario);
  const Scenario& replayed = shared ? *shared : scenario;
  const std::vector<std::int64_t>& times = replayer.run(replayed);
  const std::size_t which = step ? *step : typical_step(predictor, replayed, times);
  PredictedStep result = Reader(predictor, replayed, predictor.steps().steps[which], times).read();
  result.replayed = predictor.replayed(which);
  return result;
}

}  // namespace headway::analyzer
