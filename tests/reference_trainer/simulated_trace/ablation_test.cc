// SPDX-License-Identifier: MIT
// The known wrong ways of predicting from a recording, each on a simulated run where it shows: how far it is
// off beside the replay. The truth is the same run, simulated with the change.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/analysis.h"
#include "analyzer/whatif/whatif.h"
#include "reference_trainer/simulated_trace/write_trace.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::analyzer {
namespace {

using test::simulate;
using test::Switches;

/// Without the first steps, which fill queues.
constexpr std::int64_t kSteps = 40;

class Wrong {
 public:
  Wrong(const Predictor& predictor, Scenario right)
      : program_(predictor.program()),
        points_(program_.graph().points()),
        right_(right),
        result_(std::move(right)) {}

  /// Calls `change` with each slot that has a point, each of its constraints and a function that gives the
  /// constraint another lag, unless the change under question has one already.
  template <class Change>
  Scenario apply(Change change) {
    for (std::uint32_t s = 0; s < program_.size(); ++s) {
      if (!program_.point_of(Slot{s}).valid()) continue;
      program_.for_each(Slot{s}, [&](const Constraint& constraint) {
        if (std::ranges::any_of(right_.edits,
                                [&](const Edit& edit) { return edit.constraint == constraint.id; }))
          return;
        change(program_.point_of(Slot{s}), constraint);
      });
    }
    result_.finish();
    return result_;
  }
  void keep(PointId point, const Constraint& constraint) {
    const TimeNs from = points_.time(program_.point_of(constraint.from));
    result_.set(constraint.id, points_.time(point) - from);
  }
  void remove(const Constraint& constraint) { result_.remove(constraint.id); }
  const Points& points() const { return points_; }
  const DependencyGraph& graph() const { return program_.graph(); }
  PointId from(const Constraint& constraint) const { return program_.point_of(constraint.from); }

 private:
  const Program& program_;
  const Points& points_;
  const Scenario right_;
  Scenario result_;
};

/// Calls that waited for the device take as long as they took.
Scenario keep_sync_durations(const Predictor& predictor, const Scenario& right) {
  Wrong wrong(predictor, right);
  return wrong.apply([&](PointId point, const Constraint& constraint) {
    const TaskId task = task_of(point);
    if (constraint.kind == EdgeKind::kDuration && wrong.graph().is_waiting(task) &&
        wrong.points().call_of(task).valid())
      wrong.keep(point, constraint);
  });
}

/// The pauses between the ops of a stream stay as they were.
Scenario keep_idle_gaps(const Predictor& predictor, const Scenario& right) {
  Wrong wrong(predictor, right);
  return wrong.apply([&](PointId point, const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kStreamOrder && !is_start(wrong.from(constraint)))
      wrong.keep(point, constraint);
  });
}

/// Waits for a batch take as long as they took.
Scenario keep_batch_waits(const Predictor& predictor, const Scenario& right) {
  Wrong wrong(predictor, right);
  return wrong.apply([&](PointId point, const Constraint& constraint) {
    const TaskId task = task_of(point);
    if (constraint.kind == EdgeKind::kDuration && wrong.graph().is_waiting(task) &&
        wrong.points().range_of(task).valid())
      wrong.keep(point, constraint);
  });
}

/// The queue of launches is endless, and a launch that a full one kept took what it took.
Scenario drop_queue_depth(const Predictor& predictor, const Scenario& right) {
  Wrong wrong(predictor, right);
  std::vector<bool> kept(wrong.points().task_count());
  wrong.apply([&](PointId point, const Constraint& constraint) {
    if (constraint.kind == EdgeKind::kQueueFull) kept[task_of(point).value] = true;
  });
  return wrong.apply([&](PointId point, const Constraint& constraint) {
    if (!kept[task_of(point).value]) return;
    if (constraint.kind == EdgeKind::kQueueFull) wrong.remove(constraint);
    if (constraint.kind == EdgeKind::kDuration) wrong.keep(point, constraint);
  });
}

/// Whole tasks in the order of their starts: a call ends before what starts after it has been placed, so it
/// does not wait for that.
Scenario sort_tasks_by_start(const Predictor& predictor, const Scenario& right) {
  Wrong wrong(predictor, right);
  return wrong.apply([&](PointId point, const Constraint& constraint) {
    if (constraint.kind != EdgeKind::kHostSync) return;
    const PointId op = start_of(task_of(wrong.from(constraint)));
    if (wrong.points().before(start_of(task_of(point)), op)) wrong.remove(constraint);
  });
}

/// Questions that are no fix: what if reading, or copying to the device, took as long as in the other run?
constexpr std::string_view kReads = "io_read";
constexpr std::string_view kCopies = "h2d";

double mean_ns(const trainer::sim::SimulatedRun& run, std::string_view time_class) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  auto add = [&](std::int64_t start, std::int64_t end) {
    sum += end - start;
    ++count;
  };
  if (time_class == kReads) {
    for (const auto& range : run.recordings[0].ranges) {
      if (range.payload.kind == static_cast<std::uint32_t>(conventions::RangeKind::kRead))
        add(range.start, range.end);
    }
  } else {
    for (const auto& op : run.recordings[0].ops) {
      if (op.kind == trace::DeviceOpKind::kCopyHostToDevice) add(op.start, op.end);
    }
  }
  REQUIRE(count > 0);
  return static_cast<double>(sum) / static_cast<double>(count);
}

struct Case {
  std::string name;
  Switches with;         ///< what is recorded
  Switches without;      ///< over it: the truth
  std::string_view fix;  ///< or the question
  Scenario (*wrong)(const Predictor&, const Scenario&);
  double least_error;  ///< of the wrong way, share of the step
};

const std::vector<Case>& cases() {
  static const Switches small{{"model", "resnet"}, {"eval", "off"}, {"batch", "1"}};
  static const Switches large{{"model", "resnet"}, {"eval", "off"},  {"width", "64"},
                              {"batch", "256"},    {"workers", "8"}, {"samples", "20000"}};
  auto both = [](Switches a, const Switches& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  static const std::vector<Case> all{
      {"keep the durations of synchronisations",
       both(large, {{"link_mb_per_s", "60"}, {"h2d", "async"}, {"loss_read", "step"}}),
       {{"link_mb_per_s", "240"}},
       kCopies,
       keep_sync_durations,
       0.5},
      {"keep idle gaps as weights",
       both(small, {{"sync", "8"}}),
       {{"sync", "never"}},
       "remove-syncs",
       keep_idle_gaps,
       0.1},
      {"keep waits for batches",
       both(large, {{"workers", "1"}, {"source", "files"}, {"storage_latency_ms", "0.05"}}),
       {{"storage_latency_ms", "0.03"}},
       kReads,
       keep_batch_waits,
       0.2},
      {"drop the depth of the launch queue",
       both(large, {{"link_mb_per_s", "60"},
                    {"h2d", "async"},
                    {"run_ahead", "8"},
                    {"fused_bn", "off"},
                    {"fused_optimizer", "off"}}),
       {{"h2d", "prefetch"}},
       "overlap-copies",
       drop_queue_depth,
       0.1},
      {"sort tasks by their start",
       both(small, {{"sync", "op"}, {"loss_read", "step"}}),
       {{"loss_read", "deferred"}},
       "deferred-read",
       sort_tasks_by_start,
       0.15},
  };
  return all;
}

}  // namespace

TEST_CASE("every known wrong way of predicting is off where the replay is not") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const test::TemporaryFolder folder;
    const test::Simulated recorded = simulate(one.with, kSteps);
    trainer::sim::write_trace(recorded.run, folder / "run.sqlite");
    const trace::Trace trace = trace::load(folder / "run.sqlite");
    const Analysis analysis = analyze(trace);
    const Predictor predictor(trace, analysis);
    REQUIRE(predictor.missing().empty());
    Switches changed = one.with;
    changed.insert(changed.end(), one.without.begin(), one.without.end());
    const test::Simulated other = simulate(changed, kSteps);
    const double truth = other.run.result.mean_step_s() * 1e9;
    Scenario scenario;
    if (one.fix == kReads || one.fix == kCopies) {
      const double factor = mean_ns(other.run, one.fix) / mean_ns(recorded.run, one.fix);
      scenario = parse_scaling(predictor, fmt::format("{}={}", one.fix, factor));
    } else {
      Proposal proposal = find_fix(one.fix)->propose(predictor);
      REQUIRE(proposal.applies);
      scenario = std::move(proposal.scenario);
    }
    auto error = [&](const Scenario& way) {
      return static_cast<double>(predictor.predict(way).step.ns) / truth - 1;
    };
    const double right = error(scenario);
    const double wrong = error(one.wrong(predictor, scenario));
    MESSAGE(fmt::format("{}: {:+.1f} %, replay {:+.2f} % of a step of {:.3f} ms", one.name,
                        100 * wrong, 100 * right, truth / 1e6));
    CHECK(predictor.baseline().residual < 0.001);
    CHECK(std::fabs(right) < 0.005);
    CHECK(std::fabs(wrong) > one.least_error);
  }
}

}  // namespace headway::analyzer
