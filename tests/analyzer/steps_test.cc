// SPDX-License-Identifier: MIT
#include "analyzer/steps/steps.h"

#include <doctest/doctest.h>

#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

void add_steps(TraceBuilder& builder, std::string_view name, int count,
               std::int64_t duration = 100) {
  for (int i = 0; i < count; ++i)
    builder.range(1, std::string(name) + std::to_string(i), i * 1000, i * 1000 + duration);
}

}  // namespace

TEST_CASE("declared steps win over named ones, and keep the program's numbers") {
  TraceBuilder builder;
  add_steps(builder, "iteration ", 6);
  for (int i = 0; i < 6; ++i)
    builder.range(2, "work", i * 1000, i * 1000 + 500,
                  {.kind = trace::RangeKind::kStep, .step = 40 + i});
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kDeclared);
  REQUIRE(steps.all.size() == 6);
  CHECK(steps.all[0].number == 40);
  CHECK(steps.steady.size() == 4);  // without the first and the last
}

TEST_CASE("names that mean a step are found in their usual spellings") {
  for (const char* name : {"ProfilerStep#", "step ", "train_step ", "Iteration "}) {
    CAPTURE(name);
    TraceBuilder builder;
    add_steps(builder, name, 4);
    builder.range(1, "stepwise refinement of nothing", 10'000, 20'000);
    trace::Trace trace = builder.load();
    Steps steps = find_steps(trace);
    CHECK(steps.source == StepSource::kNamed);
    CHECK(steps.all.size() == 4);
    CHECK(steps.all[3].number == 3);
  }
}

TEST_CASE("no steps is an answer with a reason") {
  TraceBuilder builder;
  builder.range(1, "forward", 0, 10);
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kNone);
  CHECK(steps.how.find("--step-range") != std::string::npos);
}

TEST_CASE("the user's pattern decides, with or without a star") {
  TraceBuilder builder;
  add_steps(builder, "epoch ", 4);
  trace::Trace trace = builder.load();
  CHECK(find_steps(trace, {.range = "epoch *"}).all.size() == 4);
  CHECK(find_steps(trace, {.range = "epoch 2"}).all.size() == 1);
  CHECK(find_steps(trace, {.range = "nothing"}).source == StepSource::kNone);
}

TEST_CASE("slow steps at the start are warm-up, slow steps later are not") {
  TraceBuilder builder;
  std::int64_t t = 0;
  for (int i = 0; i < 40; ++i) {
    std::int64_t duration = i < 3 ? 900 : i == 30 ? 5000 : 100 + i % 3;
    builder.range(1, "step", t, t + duration, {.kind = trace::RangeKind::kStep, .step = i});
    t += duration + 10;
  }
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  // The first is dropped as the first. What the third waited for may be for the fourth.
  CHECK(steps.dropped_warm_up == 3);
  CHECK(!steps.all[3].steady);
  CHECK(steps.all[4].steady);
  CHECK(steps.all[30].steady);
}

TEST_CASE("slow steps among others at the start only are warm-up, those that come again are not") {
  auto warm_up_of = [](auto is_slow, int just_over = -1) {
    TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 100; ++i) {
      const std::int64_t duration = is_slow(i) ? 1000 : i == just_over ? 130 : 100 + i % 3;
      builder.range(1, "step", t, t + duration, {.kind = trace::RangeKind::kStep, .step = i});
      t += duration + 10;
    }
    trace::Trace trace = builder.load();
    return find_steps(trace);
  };
  // A page cache that fills: every second step waits for files, and none after the first epoch.
  const Steps cold = warm_up_of([](int i) { return i < 40 && i % 2 == 0; });
  CHECK(cold.dropped_warm_up == 39);  // of 1 to 38 and the one that waits after the last
  CHECK(!cold.all[39].steady);
  CHECK(cold.all[40].steady);
  CHECK(cold.warm_up_note().find("40 steps") != std::string::npos);
  CHECK(cold.warm_up_note().find("560 ns") != std::string::npos);
  // A later step that scatters just over what is slow takes nothing of that.
  auto first_epochs = [](int i) { return i < 20 && i % 2 == 0; };
  CHECK(warm_up_of(first_epochs).dropped_warm_up == 19);
  CHECK(warm_up_of(first_epochs, 70).dropped_warm_up == 19);
  // Most of them are slow, but not the very first.
  CHECK(warm_up_of([](int i) { return i > 2 && i < 30; }).dropped_warm_up == 30);
  // The first step waits for files and two more of the next seven: far apart, but never again.
  CHECK(warm_up_of([](int i) { return i == 0 || i == 3 || i == 7; }).dropped_warm_up == 8);
  CHECK(warm_up_of([](int i) { return i == 3 || i == 7; }).dropped_warm_up == 0);
  CHECK(warm_up_of([](int i) { return i == 0 || i == 30 || i == 37; }).dropped_warm_up == 0);
  // Every fourth step up to the fortieth, and none for sixty; what comes every twentieth may come again.
  CHECK(warm_up_of([](int i) { return i == 0 || (i % 4 == 3 && i < 40); }).dropped_warm_up == 40);
  CHECK(warm_up_of([](int i) { return i == 0 || (i % 20 == 19 && i < 70); }).dropped_warm_up == 0);
  // An epoch of ten steps, a burst once, and two pauses that may well come again.
  CHECK(warm_up_of([](int i) { return i % 10 == 0; }).dropped_warm_up == 0);
  CHECK(warm_up_of([](int i) { return i >= 20 && i < 28; }).dropped_warm_up == 0);
  CHECK(warm_up_of([](int i) { return i == 10 || i == 30; }).dropped_warm_up == 0);
  // One epoch's end, behind which every second step waits for a while.
  CHECK(warm_up_of([](int i) { return i > 30 && i < 70 && i % 2 == 0; }).dropped_warm_up == 0);
}

TEST_CASE("ranks that each leave a few steps out have no long warm-up together") {
  // As find_steps() leaves them: of each of so many ranks the first steps are out, the others are steady.
  auto left_out = [](std::uint32_t ranks, int each) {
    Steps steps;
    for (int i = 0; i < 40; ++i) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        Step step;
        step.thread = trace::ThreadId{rank};
        step.host = {{i * 100}, {i * 100 + 90}};
        step.next = {(i + 1) * 100};
        step.steady = i >= each;
        if (step.steady) steps.steady.push_back(static_cast<std::uint32_t>(steps.all.size()));
        steps.all.push_back(step);
      }
    }
    steps.dropped_warm_up = static_cast<int>(ranks) * (each - 1);
    return steps;
  };
  CHECK(left_out(8, 3).warm_from() == TimeNs::min());
  CHECK(left_out(8, 3).warm_up_note().empty());
  CHECK(left_out(8, 20).warm_from() == TimeNs{2000});
  CHECK(left_out(8, 20).warm_up_note().find("20 steps") != std::string::npos);
}

TEST_CASE("steps that all become faster for good were warm-up, a trend or noise is none") {
  auto dropped = [](auto duration_of) {
    TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t duration = duration_of(i);
      builder.range(1, "step", t, t + duration, {.kind = trace::RangeKind::kStep, .step = i});
      t += duration + 10;
    }
    const trace::Trace trace = builder.load();
    return find_steps(trace).dropped_warm_up;
  };
  // Files are in memory from step 35 on; one step in the faster part is long. The first is out as the
  // first, and the device waits in the one after.
  CHECK(dropped([](int i) { return i == 50 ? 4000 : (i < 35 ? 1130 : 1000) + 7 * (i % 5); }) == 35);
  CHECK(dropped([](int i) { return (i < 48 ? 1130 : 1000) + 7 * (i % 5); }) ==
        48);  // the last that may
  CHECK(dropped([](int i) { return (i < 35 ? 1000 : 1130) + 7 * (i % 5); }) == 0);  // slower
  CHECK(dropped([](int i) { return 1100 - 2 * i; }) == 0);                          // a trend
  CHECK(dropped([](int i) { return 1000 + 37 * (i * 7 % 11); }) == 0);              // noise
  // A phase that comes again is none either.
  CHECK(dropped([](int i) { return i % 20 < 10 ? 1130 : 1000; }) == 0);
  CHECK(dropped([](int i) { return i < 35 ? 1010 + i % 5 : 1000 + i % 5; }) == 0);  // 1 %
}

TEST_CASE(
    "steps before the samples are in memory are warm-up, also where something else bounds them") {
  // Two workers read a batch for each step of 100 us. Reads take `before` until step `warm`, then 10 us.
  auto dropped = [](int warm, std::int64_t before, bool again = false) {
    TraceBuilder builder;
    for (int i = 0; i < 60; ++i) {
      builder.range(1, "step", i * 100'000, (i + 1) * 100'000 - 10,
                    {.kind = trace::RangeKind::kStep, .step = i});
      const bool cold = i < warm || (again && i % 4 == 0);
      builder.range(2 + i % 2, "read", i * 100'000, i * 100'000 + (cold ? before : 10'000),
                    {.kind = trace::RangeKind::kRead, .bytes = 1000});
    }
    const trace::Trace trace = builder.load();
    return find_steps(trace).dropped_warm_up;
  };
  // The first is out as the first; the next after the cold reads takes the last cold batch.
  CHECK(dropped(30, 90'000) == 31);
  CHECK(dropped(30, 20'000) == 0);        // a storage that is busier at first
  CHECK(dropped(30, 90'000, true) == 0);  // files that are not all in memory
  CHECK(dropped(55, 90'000) == 0);        // too few steps are left to judge
  CHECK(dropped(0, 90'000) == 0);
  // Four workers that fill their queues share a storage: each read takes four times as long, all together as long.
  TraceBuilder builder;
  for (int i = 0; i < 60; ++i) {
    builder.range(1, "step", i * 100'000, (i + 1) * 100'000 - 10,
                  {.kind = trace::RangeKind::kStep, .step = i});
    const bool crowded = i < 28;
    const std::int64_t begins = crowded ? (i / 4) * 400'000 : i * 100'000;
    builder.range(2 + i % 4, "read", begins, begins + (crowded ? 360'000 : 90'000),
                  {.kind = trace::RangeKind::kRead, .bytes = 1000});
  }
  CHECK(find_steps(builder.load()).dropped_warm_up == 0);
}

TEST_CASE("a step that was cut is not steady, and a step inside a step is not a step") {
  TraceBuilder builder;
  for (int i = 0; i < 8; ++i)
    builder.range(1, "step", i * 100, i * 100 + 90, {.kind = trace::RangeKind::kStep});
  builder.range(1, "step", 210, 220, {.kind = trace::RangeKind::kStep});
  builder.open_range(1, "step", 800, {.kind = trace::RangeKind::kStep});
  builder.process_killed(9, 850);
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.all.size() == 9);
  CHECK(!steps.all.back().steady);
}

}  // namespace headway::analyzer
