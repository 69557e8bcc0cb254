// SPDX-License-Identifier: MIT
#include "analyzer/model/step_cost.h"

#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::TraceBuilder;
using trace::DeviceOpKind;
using trace::Phase;
using trace::RangeKind;

constexpr std::int64_t kPeriod = 1'000'000;
constexpr std::int64_t kStep = 600'000;

/// Steps of 600 µs on thread 1, one a millisecond. `device`: each has a kernel of 500 µs that the
/// step launches at once.
void loop(TraceBuilder& builder, int steps, bool device) {
  for (int i = 0; i < steps; ++i) {
    const std::int64_t t = 1'000'000 + i * kPeriod;
    builder.range(1, "step", t, t + kStep, {.kind = RangeKind::kStep, .step = i});
    if (device)
      builder.launch(1, t, t + 10'000, t + 20'000, t + 520'000, {.phase = Phase::kUpdate});
    else
      builder.range(1, "conv2d", t, t + 500'000);
  }
}

const DevicePartition& only(const AnalyzedRun& run) {
  REQUIRE(run.analysis.partitions.size() == 1);
  return run.analysis.partitions[0];
}

}  // namespace

TEST_CASE("the step cost is the stretch over its steps, with what lies between them") {
  for (bool device : {false, true}) {
    CAPTURE(device);
    TraceBuilder builder;
    loop(builder, 12, device);
    AnalyzedRun run(builder);
    // First and last are dropped; the stretch ends where the last one begins.
    CHECK(run.analysis.step_cost.steps == 10);
    CHECK(run.analysis.step_cost.stretch.ns == 10 * kPeriod);
    CHECK(run.analysis.step_cost.per_step().ns == kPeriod);
    CHECK(run.analysis.step_cost.typical.ns == kPeriod);
    const DevicePartition& partition = only(run);
    CHECK(partition.per_steady_step.total().ns == kPeriod);
    CHECK(partition.stretch == run.analysis.step_cost.stretch);
    CHECK(run.ns(TimeClass::kBetweenSteps) == kPeriod - kStep);
    CHECK(partition.between[BetweenCause::kOther].ns == kPeriod - kStep);
  }
}

TEST_CASE("slow steps are in the step cost and not in the typical step") {
  TraceBuilder builder;
  std::int64_t t = 0;
  for (int i = 0; i < 162; ++i) {
    const std::int64_t length = i % 40 == 0 ? 198'600'000 : 600'000;
    builder.range(1, "step", t, t + length, {.kind = RangeKind::kStep, .step = i});
    builder.range(1, "conv2d", t, t + 500'000);
    t += length;
  }
  AnalyzedRun run(builder);
  CHECK(run.analysis.step_cost.typical.ns == 600'000);
  CHECK(run.analysis.step_cost.steps == 160);
  CHECK(run.analysis.step_cost.stretch.ns == 160 * 600'000LL + 4 * 198'000'000LL);
  CHECK(only(run).per_steady_step.total() == run.analysis.step_cost.per_step());
}

TEST_CASE("evaluation and checkpoints between steps are told apart, on the host and on a device") {
  for (bool device : {false, true}) {
    CAPTURE(device);
    TraceBuilder builder;
    loop(builder, 12, device);
    auto gap = [](int step) { return 1'000'000 + step * kPeriod + kStep; };
    builder.range(1, "evaluate", gap(3), gap(3) + 300'000);
    builder.range(1, "save_checkpoint", gap(5) + 100'000, gap(5) + 300'000);
    // What evaluation runs is evaluation.
    if (device)
      builder.launch(1, gap(3) + 10'000, gap(3) + 20'000, gap(3) + 30'000, gap(3) + 200'000, {});
    else
      builder.range(1, "aten::linear", gap(3) + 10'000, gap(3) + 200'000);
    // Recomputation inside of steps is the steps' own, whatever it is called.
    for (int step = 0; step < 12; ++step)
      builder.range(1, "checkpoint", gap(step) - 90'000, gap(step) - 60'000);
    AnalyzedRun run(builder);
    const DevicePartition& partition = only(run);
    CHECK(partition.between[BetweenCause::kEvaluation].ns == 300'000 / 10);
    CHECK(partition.between[BetweenCause::kCheckpoint].ns == 200'000 / 10);
    CHECK(run.ns(TimeClass::kBetweenSteps) == kPeriod - kStep);
    CHECK(partition.per_steady_step.total() == run.analysis.step_cost.per_step());
  }
}

TEST_CASE("waiting for input between steps stays input") {
  TraceBuilder builder;
  loop(builder, 12, false);
  for (int i = 0; i < 12; ++i) {
    const std::int64_t t = 1'000'000 + i * kPeriod + kStep;
    builder.range(1, "next batch", t, t + 300'000, {.kind = RangeKind::kInputWait, .batch = i});
  }
  AnalyzedRun run(builder);
  CHECK(run.ns(TimeClass::kInputOther) == 300'000);
  CHECK(run.ns(TimeClass::kBetweenSteps) == kPeriod - kStep - 300'000);
}

TEST_CASE("a range around the whole loop says nothing of the time between its steps") {
  TraceBuilder builder;
  builder.range(1, "train_and_evaluate", 0, 20'000'000);
  loop(builder, 12, false);
  AnalyzedRun run(builder);
  CHECK(only(run).between[BetweenCause::kEvaluation].ns == 0);
  CHECK(only(run).between[BetweenCause::kOther].ns == kPeriod - kStep);
}

TEST_CASE("what was not recorded between steps costs nothing") {
  TraceBuilder builder;
  for (int i = 0; i < 20; ++i) {
    // Steps 10 to 99 and their 900 ms were not recorded.
    const int number = i < 10 ? i : i + 90;
    const std::int64_t t = 1'000'000 + number * kPeriod;
    builder.range(1, "step", t, t + kPeriod, {.kind = RangeKind::kStep, .step = number});
    builder.range(1, "conv2d", t, t + 500'000);
  }
  AnalyzedRun run(builder);
  CHECK(run.analysis.step_cost.per_step().ns == kPeriod);
}

TEST_CASE("without steps the span is what is judged, and there is no throughput") {
  TraceBuilder builder;
  builder.setting("batch", "32");
  builder.launch(1, 0, 500, 20'000, 120'000, {.name = "kernel"});
  AnalyzedRun run(builder);
  CHECK(run.analysis.step_cost.steps == 1);
  CHECK(run.analysis.step_cost.per_step().ns == 100'000);
  CHECK(!run.analysis.samples_per_s());
}

TEST_CASE("throughput counts the batches of a step and the ranks") {
  auto rate = [](std::initializer_list<std::pair<const char*, const char*>> settings) {
    TraceBuilder builder;
    loop(builder, 12, false);
    for (const auto& [name, value] : settings) builder.setting(name, value);
    return AnalyzedRun(builder).analysis.samples_per_s();
  };
  CHECK(*rate({{"batch", "32"}}) == doctest::Approx(32'000));
  CHECK(*rate({{"batch", "32"}, {"accumulate", "4"}}) == doctest::Approx(128'000));
  CHECK(*rate({{"batch", "32"}, {"ranks", "8"}}) == doctest::Approx(256'000));
  CHECK(!rate({}));
  CHECK(!rate({{"batch", "many"}}));
  // A loader whose batches nobody waits for says nothing of how many a step takes.
  CHECK(!rate({{"DataLoader", "num_workers=2 batch_size=16"}}));
}

TEST_CASE("a recorded DataLoader's batches are counted by the waits of a step") {
  TraceBuilder builder;
  loop(builder, 12, false);
  builder.setting("DataLoader", "num_workers=2 batch_size=16");
  for (int i = 0; i < 12; ++i) {
    for (int micro = 0; micro < 2; ++micro) {
      const std::int64_t t = 1'000'000 + i * kPeriod + 500'000 + micro * 50'000;
      builder.range(1, "wait", t, t + 10'000,
                    {.kind = RangeKind::kInputWait, .batch = 2 * i + micro});
      builder.range(1, "inner", t + 1'000, t + 9'000,
                    {.kind = RangeKind::kInputWait, .batch = 2 * i + micro});
    }
  }
  CHECK(*AnalyzedRun(builder).analysis.samples_per_s() == doctest::Approx(32'000));
}

TEST_CASE("names say what a program does between its steps") {
  CHECK(between_cause_of_name("evaluate") == BetweenCause::kEvaluation);
  CHECK(between_cause_of_name("[pl][profile]run_validation") == BetweenCause::kEvaluation);
  CHECK(between_cause_of_name("SaveCheckpoint") == BetweenCause::kCheckpoint);
  CHECK(between_cause_of_name("torch/serialization.py(651): save") == BetweenCause::kCheckpoint);
  CHECK(between_cause_of_name("log_metrics") == BetweenCause::kLogging);
  CHECK(between_cause_of_name("DataLoader.__iter__") == BetweenCause::kLoaderRestart);
  CHECK(between_cause_of_name("start workers") == BetweenCause::kLoaderRestart);
  CHECK(between_cause_of_name("gc.collect") == BetweenCause::kGarbageCollection);
  CHECK(between_cause_of_name("<built-in function collect>") == BetweenCause::kGarbageCollection);
  CHECK(between_cause_of_name("CheckpointFunctionBackward") == BetweenCause::kOther);
  CHECK(between_cause_of_name("interval") == BetweenCause::kOther);
  CHECK(between_cause_of_name("enumerate(DataLoader)#_Iter.__next__") == BetweenCause::kOther);
  CHECK(between_cause_of_name("forward") == BetweenCause::kOther);
}

TEST_CASE("parts of a mean add up to the mean of the whole") {
  test::check_property("mean_of", [] {
    ClassTimes sum;
    for (DurationNs& part : sum.of) part = {*rc::gen::inRange<std::int64_t>(0, 1'000'000'007)};
    const std::int64_t count = *rc::gen::inRange<std::int64_t>(1, 1000);
    const ClassTimes mean = mean_of(sum, count);
    RC_ASSERT(mean.total() == sum.total() / count);
    for (std::size_t i = 0; i < kTimeClassCount; ++i)
      RC_ASSERT(mean.of[i].ns == sum.of[i].ns / count || mean.of[i].ns == sum.of[i].ns / count + 1);
  });
  CHECK(mean_of({}, 0).total().ns == 0);
}

TEST_CASE("in any loop the partition of the judged stretch sums to its wall time") {
  test::check_property("stretch", [] {
    TraceBuilder builder;
    const int steps = *rc::gen::inRange(5, 25);
    const bool device = *rc::gen::inRange(0, 2) == 1;
    const char* const names[] = {"evaluate", "save_checkpoint", "log", "gc.collect", "other", "op"};
    std::int64_t t = 1'000;
    std::vector<std::int64_t> begins;
    for (int i = 0; i < steps; ++i) {
      begins.push_back(t);
      const std::int64_t length = *rc::gen::inRange(100, 1000);
      builder.range(1, "step", t, t + length, {.kind = RangeKind::kStep, .step = i});
      if (device) builder.launch(1, t, t + 5, t + 10, t + 10 + *rc::gen::inRange(1, 900), {});
      t += length;
      const std::int64_t gap = *rc::gen::inRange(0, 400);
      if (gap > 10) {
        builder.range(1, names[*rc::gen::inRange(0, 6)], t,
                      t + *rc::gen::inRange<std::int64_t>(1, gap));
        if (device && *rc::gen::inRange(0, 2))
          builder.launch(1, t, t + 1, t + 2, t + 2 + *rc::gen::inRange(1, 500), {});
      }
      t += gap;
    }
    AnalyzedRun run(builder);
    for (const DevicePartition& partition : run.analysis.partitions) {
      DurationNs windows;
      ClassTimes sum;
      TimeNs end = TimeNs::min();
      for (const DeviceStep& step : partition.steps) {
        // Neighbours leave no time out.
        RC_ASSERT(end == TimeNs::min() || step.interval.begin == end);
        end = step.interval.end;
        if (!run.analysis.steps.all[step.step].steady) continue;
        windows += step.interval.length();
        sum += step.times;
      }
      RC_ASSERT(partition.stretch == windows);
      RC_ASSERT(sum.total() == windows);
      RC_ASSERT(partition.per_steady_step.total() == partition.step_cost());
      DurationNs between;
      for (DurationNs time : partition.between.of) between += time;
      RC_ASSERT(between <= partition.per_steady_step[TimeClass::kBetweenSteps]);
    }
    if (!device) {
      const Steps& found = run.analysis.steps;
      const auto last = found.steady.back();
      const std::int64_t stretch =
          (last + 1 < begins.size() ? begins[last + 1] : found.all[last].host.end.ns) -
          begins[found.steady.front()];
      RC_ASSERT(run.analysis.step_cost.stretch.ns == stretch);
    }
  });
}

}  // namespace headway::analyzer
