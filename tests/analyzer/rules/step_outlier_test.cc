// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "common/format.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("step-outlier fires on checkpoints, names the class that grew and the period") {
  TextRun run("thread main\n  steps 52\n" + healthy_step() +
              "    sync stream\n    on every=10 offset=4\n      host 30ms\n");
  const Finding& finding = run.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("one every 10 steps") != std::string::npos);
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(3'000'000).epsilon(0.01));
  CHECK(finding.evidence.size() == 5);
  // One share of one step, in the claim as in the finding.
  CHECK(finding.claim.find("step (" + format_percent(finding.share_of_step) + ")") !=
        std::string::npos);
}

TEST_CASE("step-outlier leaves what the program does between its steps to the rule of that cause") {
  auto run_with = [](const char* name, std::int64_t time) {
    test::TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 82; ++i) {
      builder.range(1, "step", t, t + 600'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 500'000);
      t += 600'000;
      if (i % 20 != 10) continue;
      if (name) builder.range(1, name, t, t + time);
      t += time;
    }
    return test::AnalyzedRun(builder);
  };
  const test::AnalyzedRun evaluation = run_with("evaluation batch", 9'000'000);
  CHECK(evaluation.finding("step-outlier").status == Status::kFine);
  CHECK(evaluation.finding("evaluation-time").status == Status::kFound);
  const test::AnalyzedRun checkpoint = run_with("save_checkpoint", 9'000'000);
  CHECK(checkpoint.finding("step-outlier").status == Status::kFine);
  CHECK(checkpoint.finding("checkpoint-time").status == Status::kFound);
  const test::AnalyzedRun unnamed = run_with(nullptr, 9'000'000);
  CHECK(unnamed.finding("step-outlier").status == Status::kFine);
  CHECK(unnamed.finding("host-pauses").status == Status::kFound);
  // Below the threshold of that rule it is still an outlier, with the cause's name.
  const test::AnalyzedRun small = run_with("save_checkpoint", 450'000);
  CHECK(small.finding("checkpoint-time").status == Status::kFine);
  REQUIRE(small.finding("step-outlier").status == Status::kFound);
  CHECK(small.finding("step-outlier").sub_cause == "checkpoint");
}

namespace {

/// 82 steps of 600 µs; `add` puts what is seldom into every twentieth, from its 500th µs on.
template <class Add>
test::AnalyzedRun seldom_longer(std::int64_t time, Add add) {
  test::TraceBuilder builder;
  builder.setting("python_hook", "on");
  std::int64_t t = 0;
  for (int i = 0; i < 82; ++i) {
    const std::int64_t longer = i % 20 == 10 ? time : 0;
    builder.range(1, "step", t, t + 600'000 + longer, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, "nn.Module: Net", t, t + 500'000, {.kind = trace::RangeKind::kPhase});
    if (longer) add(builder, t + 500'000, t + 500'000 + longer);
    t += 600'000 + longer;
  }
  return test::AnalyzedRun(builder);
}

std::string knobs(const Finding& finding) {
  std::string all;
  for (const Advice& one : finding.advice) all += one.knob + "\n";
  return all;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("step-outlier names the function that runs in the outlying steps, and advises about it") {
  const test::AnalyzedRun run = seldom_longer(
      2'000'000, [](test::TraceBuilder& builder, std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin + 50'000; at < end; at += 100'000)
          builder.sample(1, "redraw (train.py:8);main (train.py:20)", at, 100);
      });
  const Finding& finding = run.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CAPTURE(finding.claim);
  CHECK(contains(finding.claim, "'redraw (train.py:8)', called from 'main (train.py:20)'"));
  CHECK(contains(knobs(finding), "'redraw (train.py:8)'"));
  for (const char* other : {"NCCL", "async_save", "gc.", "py-spy"})
    CHECK(!contains(knobs(finding), other));
}

TEST_CASE("step-outlier without a name asks for one, and names nothing that did not run") {
  const test::AnalyzedRun run =
      seldom_longer(2'000'000, [](test::TraceBuilder&, std::int64_t, std::int64_t) {});
  const Finding& finding = run.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CHECK(contains(knobs(finding), "record_function"));
  for (const char* other : {"NCCL", "async_save", "gc."}) CHECK(!contains(knobs(finding), other));
}

TEST_CASE("step-outlier advises prefetching where workers make batches, else workers") {
  const auto slow_batch = [](test::TraceBuilder& builder, std::int64_t begin, std::int64_t end) {
    builder.range(1, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", begin, end,
                  {.kind = trace::RangeKind::kInputWait, .batch = begin});
    builder.range(1, "batch", begin, end, {.kind = trace::RangeKind::kBatch, .batch = begin});
    builder.range(1, "samples", begin, end, {.kind = trace::RangeKind::kRead, .batch = begin});
  };
  const test::AnalyzedRun alone = seldom_longer(2'000'000, slow_batch);
  const Finding& finding = alone.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "io_read");
  CHECK(contains(knobs(finding), "num_workers=2"));
  CHECK(!contains(knobs(finding), "prefetch_factor"));
}

TEST_CASE("step-outlier knows steps in which the program profiles itself") {
  test::TraceBuilder builder;
  builder.setting("torch.profiler", "30-34 with_stack");
  std::int64_t t = 0;
  for (int i = 0; i < 82; ++i) {
    const std::int64_t length = i >= 30 && i < 34 ? 3'000'000 : 600'000;
    builder.range(1, "step", t, t + length, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, "nn.Module: Net", t, t + length, {.kind = trace::RangeKind::kPhase});
    t += length;
  }
  const test::AnalyzedRun run(builder);
  const Finding& finding = run.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CHECK(contains(finding.claim, "torch.profiler"));
  CHECK(contains(knobs(finding), "schedule("));
  const auto said = std::ranges::find_if(run.analysis.doubts, [](const Doubt& doubt) {
    return contains(doubt.text, "torch.profiler (with_stack) runs in 4 of 80 steady steps");
  });
  REQUIRE(said != run.analysis.doubts.end());
  CHECK(said->severity == "doubt");
}

TEST_CASE("step-outlier names input when a batch is late") {
  TextRun run(
      "loader 2\n  on step=20\n    read 200ms bytes=1MB\n  decode 1ms\n"
      "thread main\n  steps 50\n    input\n" +
      healthy_step() + "    sync stream\n");
  CHECK(run.finding("step-outlier").sub_cause == "io_read");
}

TEST_CASE("step-outlier is fine when all steps are alike, or when many are longer") {
  TextRun even("thread main\n  steps 40\n" + healthy_step());
  CHECK(even.finding("step-outlier").status == Status::kFine);
  TextRun second_mode("thread main\n  steps 41\n" + healthy_step() +
                      "    on every=5\n      launch k 4ms blocks=864\n");
  CHECK(second_mode.finding("step-outlier").status == Status::kFine);
}

TEST_CASE("step-outlier is fine just below two percent and fires just above") {
  auto run = [](const char* time) {
    return TextRun(std::string("thread main\n  steps 52\n") + healthy_step() +
                   "    on step=30\n      launch k " + time + " blocks=864\n");
  };
  // A step takes 10.1 ms and 50 are steady: two percent are 10.1 ms in one of them.
  CHECK(run("9.9ms").finding("step-outlier").status == Status::kFine);
  CHECK(run("10.4ms").finding("step-outlier").status == Status::kFound);
}

TEST_CASE("step-outlier cannot tell from few steps or none") {
  TextRun few("thread main\n  steps 8\n" + healthy_step());
  CHECK(few.finding("step-outlier").status == Status::kCannotTell);
  TextRun none("thread main\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("step-outlier").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
