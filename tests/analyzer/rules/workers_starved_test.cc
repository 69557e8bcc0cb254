// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>

#include "analyzer/evidence/loader.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("workers-starved fires when two workers are slow and processors idle") {
  TextRun run(
      "meta cpu_count 16\ncounter machine.cpu 20 unit=%\n"
      "loader 2\n  decode 60ms\nthread main\n  steps 20\n    input\n" +
      healthy_step());
  const Finding& finding = run.finding("workers-starved");
  REQUIRE(finding.status == Status::kFound);
  // A batch takes 60 ms, a step 10: with ten workers, which 80 % idle processors carry, none waits.
  CHECK(finding.claim.find("2 workers make the batches") != std::string::npos);
  CHECK(finding.recoverable_per_step == run.finding("input-bound").recoverable_per_step);
  CHECK(!finding.evidence.empty());
}

TEST_CASE("workers-starved leaves loading on the training thread to input-bound") {
  TextRun run(
      "thread main\n  steps 20 name=ProfilerStep#% named\n"
      "    range enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n"
      "      host 6ms\n" +
      healthy_step() + "    sync stream\n");
  CHECK(run.finding("workers-starved").status == Status::kFine);
  CHECK(run.finding("input-bound").status == Status::kFound);
  CHECK(run.finding("input-bound").sub_cause == "own-thread");
}

TEST_CASE("workers-starved is fine when the processors are busy, and fires when they are less so") {
  auto run = [](int busy) {
    return TextRun("counter machine.cpu " + std::to_string(busy) +
                   " unit=%\nloader 2\n  decode 60ms\nthread main\n  steps 20\n    input\n" +
                   healthy_step());
  };
  CHECK(run(75).finding("workers-starved").status == Status::kFine);
  CHECK(run(60).finding("workers-starved").status == Status::kFound);
}

TEST_CASE("workers-starved is fine when all workers wait for one disk at its limit") {
  TextRun run(
      "counter machine.cpu 10 unit=%\ncounter machine.disk_read 400MB unit=bytes/s\n"
      "loader 4\n  read 200ms bytes=20MB\nthread main\n  steps 20\n    input\n" +
      healthy_step());
  CHECK(run.finding("workers-starved").status == Status::kFine);
}

TEST_CASE("workers-starved names as many workers as hide the making of batches, not all that fit") {
  TextRun run("meta cpu_count 64\nloader 1\n  decode 20ms\nthread main\n  steps 20\n    input\n" +
              healthy_step());
  // A batch takes 20 ms, a step 10: two, and a fifth more.
  CHECK(run.finding("workers-starved").claim.find("one worker makes the batches. With 3 workers") !=
        std::string::npos);
}

TEST_CASE(
    "workers-starved is fine where the workers suffice and some steps wait for another reason") {
  TextRun run(
      "meta cpu_count 16\nloader 2 prefetch=1\n  decode 4ms\n  on every=16\n    read 150ms "
      "bytes=1MB\n"
      "thread main\n  steps 60\n    input\n" +
      healthy_step());
  REQUIRE(run.finding("input-bound").status == Status::kFound);
  const Finding& finding = run.finding("workers-starved");
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("as many as steps need") != std::string::npos);
}

TEST_CASE("workers-starved cannot tell without samples of the processors or sight of the workers") {
  TextRun run("loader 2 hidden\n  decode 60ms\nthread main\n  steps 20\n    input\n" +
              healthy_step());
  CHECK(run.finding("workers-starved").status == Status::kCannotTell);
}

TEST_CASE("workers that sleep leave their processors to more workers") {
  auto starved = [](double percent) {
    TextRun run(
        "meta cpu_count 3\ncounter machine.cpu 10 unit=%\nloader 2 processes\n  read 60ms\n"
        "thread main\n  steps 20\n    input\n" +
        healthy_step());
    // What each worker's process was sampled to take.
    for (std::uint32_t p = 0; p < run.trace.processes.size(); ++p) {
      if (trace::ProcessId{p} == run.trace.threads[run.analysis.steps.all[0].thread.value].process)
        continue;
      trace::CounterSeries series;
      series.name = "process.cpu";
      series.unit = "%";
      series.process = trace::ProcessId{p};
      for (std::int64_t at = 0; at < 2'000; at += 10) {
        series.time.push_back(TimeNs{at * 1'000'000});
        series.value.push_back(percent);
      }
      run.trace.counters.push_back(std::move(series));
    }
    run.analysis = analyze(run.trace);
    return run.finding("workers-starved").claim;
  };
  // Six make a batch in what a step takes without waits, a fifth more are asked for; workers that take 5 % of a processor fit.
  CHECK(starved(5).find("With 7 workers") != std::string::npos);
  // The third processor is the training thread's for a sixth of the time only.
  CHECK(starved(95).find("With 3 workers") != std::string::npos);
}

TEST_CASE("workers that start with each epoch are processes one after the other") {
  // Ten processes, each there for a tenth of the time, take a tenth of a processor each: a tenth in all, not a whole one.
  trace::Trace trace;
  const Interval window{TimeNs{0}, TimeNs{1'000'000'000}};
  std::set<trace::ProcessId> workers;
  for (std::int64_t p = 0; p < 10; ++p) {
    const auto process = trace::ProcessId::from(static_cast<std::size_t>(p));
    workers.insert(process);
    trace.processes.emplace_back();
    trace::CounterSeries series;
    series.name = "process.cpu";
    series.unit = "%";
    series.process = process;
    for (std::int64_t at = 0; at <= 100; at += 10) {
      series.time.push_back(TimeNs{(100 * p + at) * 1'000'000});
      series.value.push_back(10);
    }
    // The last one was too short-lived to be sampled.
    if (p < 9) trace.counters.push_back(std::move(series));
  }
  const auto taken = processors_taken(trace, Steps{}, workers, window);
  REQUIRE(taken);
  CHECK(*taken == doctest::Approx(0.09).epsilon(0.01));
  trace.counters.clear();
  CHECK_FALSE(processors_taken(trace, Steps{}, workers, window));
}

}  // namespace headway::analyzer
