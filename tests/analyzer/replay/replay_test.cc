// SPDX-License-Identifier: MIT
#include "analyzer/replay/replayer.h"

#include <doctest/doctest.h>

#include "tests/analyzer/graph/random_trace.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using test::GraphTrace;

/// A trace as a program, with all that it refers to.
struct Replayable {
  explicit Replayable(const Trace& trace)
      : names(trace),
        attribution(attribute(trace)),
        facts(trace, names, attribution, steps),
        graph(trace),
        parts(facts),
        program(graph, parts) {}

  std::vector<std::int64_t> times(const Scenario& scenario = {}) const {
    Replayer replayer(program);
    return replayer.run(scenario);
  }

  RangeNames names;
  Attribution attribution;
  Steps steps;
  GapFacts facts;
  DependencyGraph graph;
  Parts parts;
  Program program;
};

/// Some parts scaled by factors from [low, high) percent.
Scenario random_scaling(const Replayable& run, int low, int high) {
  Scenario scenario;
  for (std::size_t part = 1; part < run.parts.all().size(); ++part) {
    if (*rc::gen::inRange(0, 3) == 0)
      scenario.scale(PartId::from(part), *rc::gen::inRange(low, high) / 100.0);
  }
  return scenario;
}

}  // namespace

TEST_CASE("replaying a recording unchanged makes nothing later than it was") {
  test::check_property("replay of the recording", [] {
    GraphTrace t;
    Replayable run(test::random_trace(t));
    std::vector<std::int64_t> times = run.times();
    for (std::uint32_t s = 0; s < run.program.size(); ++s) {
      PointId point = run.program.point_of({s});
      if (point.valid()) RC_ASSERT(run.program.slot_of(point) == Slot{s});
      RC_ASSERT(times[s] <= run.program.recorded({s}).ns);
      run.program.for_each({s}, [&](const Constraint& constraint) {
        RC_ASSERT(constraint.from.value < s);
        RC_ASSERT(constraint.lag.ns >= 0);
        RC_ASSERT(times[constraint.from.value] + constraint.lag.ns <= times[s]);
      });
    }
  });
}

TEST_CASE("a scaling by one changes nothing, a shorter part nothing for the worse") {
  test::check_property("replay is monotone", [] {
    GraphTrace t;
    Replayable run(test::random_trace(t));
    std::vector<std::int64_t> as_recorded = run.times();
    RC_ASSERT(run.times(random_scaling(run, 100, 101)) == as_recorded);
    std::vector<std::int64_t> shorter = run.times(random_scaling(run, 0, 100));
    std::vector<std::int64_t> longer = run.times(random_scaling(run, 100, 300));
    for (std::size_t s = 0; s < as_recorded.size(); ++s) {
      RC_ASSERT(shorter[s] <= as_recorded[s]);
      RC_ASSERT(longer[s] >= as_recorded[s]);
    }
  });
}

TEST_CASE("two changes together are at least as fast as each of them") {
  test::check_property("combinations", [] {
    GraphTrace t;
    Replayable run(test::random_trace(t));
    Scenario one = random_scaling(run, 0, 100);
    Scenario other;
    for (std::uint32_t c = 0; c < run.program.constraint_count(); ++c) {
      int what = *rc::gen::inRange(0, 8);
      if (what == 0) other.remove({c});
      if (what == 1) other.set({c}, run.program.constraint({c}).lag / 2);
    }
    other.finish();
    std::vector<std::int64_t> first = run.times(one);
    std::vector<std::int64_t> second = run.times(other);
    std::vector<std::int64_t> both = run.times(one.with(other));
    for (std::size_t s = 0; s < both.size(); ++s) {
      RC_ASSERT(both[s] <= second[s]);
      // An edit counts instead of the factor, which may have been the smaller.
      (void)first;
    }
  });
}

TEST_CASE("the chain that decided when a point came leads back without a gap") {
  test::check_property("chain", [] {
    GraphTrace t;
    Replayable run(test::random_trace(t));
    Scenario scenario = random_scaling(run, 0, 200);
    Replayer replayer(run.program);
    const std::vector<std::int64_t>& times = replayer.run(scenario);
    Slot last = Slot::from(run.program.size() - 1);
    std::int64_t now = times[last.value];
    for (const Replayer::Link& link : replayer.chain(scenario, {0}, last)) {
      RC_ASSERT(times[link.to.value] == now);
      RC_ASSERT(link.time.ns >= 0);
      now -= link.time.ns;
    }
    RC_ASSERT(now >= times[0]);
  });
}

TEST_CASE("a part that is gone never gains more than it has on the critical path") {
  test::check_property("gain is bounded by the path", [] {
    GraphTrace t;
    Replayable run(test::random_trace(t));
    if (run.program.size() == 0) return;
    Replayer replayer(run.program);
    const Slot last = Slot::from(run.program.size() - 1);
    const std::int64_t before = replayer.run({})[last.value];
    std::vector<std::int64_t> on_path(run.parts.all().size());
    for (const Replayer::Link& link : replayer.chain({}, {0}, last))
      on_path[link.constraint.part.value] += link.time.ns;
    for (std::size_t part = 1; part < on_path.size(); ++part) {
      Scenario without;
      without.scale(PartId::from(part), 0);
      RC_ASSERT(before - run.times(without)[last.value] <= on_path[part]);
    }
  });
}

TEST_CASE("lengths over four seconds are replayed to the nanosecond") {
  GraphTrace t;
  ThreadId thread = t.thread(t.process());
  t.call(thread, DeviceCallKind::kOther, 0, 10);
  t.call(thread, DeviceCallKind::kOther, 20'000'000'007, 50'000'000'011);
  Replayable run(t.finish());
  std::vector<std::int64_t> times = run.times();
  CHECK(times.back() == 50'000'000'011);
  Scenario half;
  for (std::size_t part = 1; part < run.parts.all().size(); ++part)
    half.scale(PartId::from(part), 0.5);
  CHECK(run.times(half).back() == 25'000'000'006);  // 5 + 10 s + 15 s, each rounded
}

}  // namespace headway::analyzer
