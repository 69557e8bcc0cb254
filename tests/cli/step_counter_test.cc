// SPDX-License-Identifier: MIT
// Steps of a run that is read stretch by stretch are counted once each.
#include "cli/live/step_counter.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/trace_builder.h"
#include "trace/load/load.h"

namespace headway::cli::live {
namespace {

constexpr std::int64_t kStep = 1'000'000;

struct Run {
  /// `numbered`: the program numbers its steps.
  Run(std::int64_t steps, bool numbered) {
    headway::test::TraceBuilder builder;
    for (std::int64_t i = 0; i < steps; ++i) {
      trace::RangeInfo info;
      info.kind = trace::RangeKind::kStep;
      if (numbered) info.step = i;
      builder.range(1, "step", i * kStep, i * kStep + kStep - 1000, info);
    }
    whole = trace::load(builder.save());
  }
  void read(StepCounter& counter, std::int64_t first, std::int64_t last) const {
    analyzer::Steps part = analyzer::find_steps(whole);
    std::erase_if(part.all, [&](const analyzer::Step& step) {
      const std::int64_t i = step.host.begin.ns / kStep;
      return i < first || i > last;
    });
    counter.add(whole, part);
  }
  trace::Trace whole;
};

}  // namespace

TEST_CASE("stretches that overlap count each step once") {
  for (bool numbered : {true, false}) {
    const Run run(100, numbered);
    StepCounter counter;
    CHECK(counter.count().done == 0);
    for (std::int64_t end = 4; end < 100; end += 5)
      run.read(counter, std::max<std::int64_t>(0, end - 9), end);
    CHECK(counter.count().done == 100);
    CHECK_FALSE(counter.count().estimated);
    CHECK(counter.count().cost.ns == kStep);
    CHECK(counter.count().over == 98);
    CHECK(counter.is_numbered() == numbered);
    CHECK(counter.newest().ns == 99 * kStep);
  }
}

TEST_CASE("steps between stretches are counted by their numbers, else by the time") {
  for (bool numbered : {true, false}) {
    const Run run(100, numbered);
    StepCounter counter;
    run.read(counter, 0, 9);
    run.read(counter, 60, 69);
    run.read(counter, 95, 99);
    CHECK(counter.count().done == 100);
    CHECK(counter.count().estimated == !numbered);
    CHECK(counter.count().cost.ns == kStep);
  }
}

TEST_CASE("a program that counts anew in each epoch is counted all the same") {
  headway::test::TraceBuilder builder;
  for (std::int64_t i = 0; i < 40; ++i) {
    trace::RangeInfo info;
    info.kind = trace::RangeKind::kStep;
    info.step = i % 10;
    builder.range(1, "step", i * kStep, i * kStep + kStep - 1000, info);
  }
  const trace::Trace trace = trace::load(builder.save());
  StepCounter counter;
  counter.add(trace, analyzer::find_steps(trace));
  CHECK(counter.count().done == 40);
  CHECK_FALSE(counter.is_numbered());
}

TEST_CASE("a step that is still open is not done") {
  headway::test::TraceBuilder builder;
  for (std::int64_t i = 0; i < 5; ++i)
    builder.range(1, "step", i * kStep, i * kStep + kStep - 1000);
  builder.open_range(1, "step", 5 * kStep);
  const trace::Trace trace = trace::load(builder.save());
  StepCounter counter;
  counter.add(trace, analyzer::find_steps(trace));
  CHECK(counter.count().done == 5);
}

}  // namespace headway::cli::live
