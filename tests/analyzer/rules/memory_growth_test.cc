// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"
#include "trace/tables/counter.h"
#include "trace/tables/counter_series.h"
#include "trace/tables/process.h"

namespace headway::analyzer {
namespace {

/// 40 steps of 0.1 s; memory is `first` MB in the first half second and `by` MB more in each later one.
std::string run_of(int first, int by, const std::string& left = "20GB") {
  std::string text;
  for (int part = 0; part < 8; ++part)
    text += "counter process.rss " + std::to_string(first + by * part) +
            "MB unit=bytes from=" + std::to_string(500 * part) +
            "ms to=" + std::to_string(500 * part + 499) + "ms\n";
  if (!left.empty()) text += "counter machine.memory_available " + left + " unit=bytes\n";
  return text + "thread main\n  steps 40\n    launch s16816gemm 100ms\n    sync stream\n";
}

}  // namespace

TEST_CASE("memory-growth names what a step keeps, and how many steps what is left lasts for") {
  test::TextRun run(run_of(1000, 50));
  const Finding& finding = run.finding("memory-growth");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 0);
  CHECK(finding.claim.find("training process") != std::string::npos);
  CHECK(finding.claim.find("20.0 GB") != std::string::npos);
  CHECK(finding.evidence.size() == 3);
}

TEST_CASE("memory-growth asks for growth that matters in a long run") {
  CHECK(test::TextRun(run_of(1000, 4, "2GB")).finding("memory-growth").status == Status::kFound);
  CHECK(test::TextRun(run_of(1000, 4, "200GB")).finding("memory-growth").status == Status::kFine);
  CHECK(test::TextRun(run_of(1000, 4, "")).finding("memory-growth").status == Status::kFine);
  CHECK(test::TextRun(run_of(1000, 20, "")).finding("memory-growth").status == Status::kFound);
  CHECK(test::TextRun(run_of(2000, -50)).finding("memory-growth").status == Status::kFine);
}

TEST_CASE(
    "memory-growth cannot tell a leak from caches that fill before much of what is left is taken") {
  // As YOLO's first 70 steps: 92 MB of 24 GB, and nothing over the next 360.
  const test::TextRun few(run_of(1000, 13, "24GB"));
  CHECK(few.finding("memory-growth").status == Status::kCannotTell);
  CHECK(few.finding("memory-growth").claim.find("to 1.09 GB") != std::string::npos);
  CHECK(test::TextRun(run_of(1000, 50, "24GB")).finding("memory-growth").status == Status::kFound);
  // A quarter more than there was is much, whatever is left.
  CHECK(test::TextRun(run_of(200, 13, "24GB")).finding("memory-growth").status == Status::kFound);
}

TEST_CASE("memory-growth counts what all processes of the machine take of its memory") {
  // One of four ranks: 13 MB of 24 GB each half second, which alone would be too little to tell.
  std::string text = run_of(1000, 13, "");
  for (int part = 0; part < 8; ++part)
    text += "counter machine.memory_available " + std::to_string(24000 - 52 * part) +
            "MB unit=bytes from=" + std::to_string(500 * part) +
            "ms to=" + std::to_string(500 * part + 499) + "ms\n";
  const test::TextRun run(text);
  const Finding& finding = run.finding("memory-growth");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("falls by 10") != std::string::npos);
  CHECK(finding.claim.find("last for 2") != std::string::npos);  // 23.6 GB at 10.4 MB a step
}

TEST_CASE("memory-growth takes what a forked worker touches of its parent's memory for no growth") {
  auto status = [](const char* command_of_worker) {
    test::TraceBuilder builder;
    auto series = [&](std::int64_t id, std::int64_t pid, const char* command) {
      trace::tables::Process::Row process;
      process.global_pid = pid << 24;
      process.parent_pid = pid == 300 ? 1 : 300;
      process.start = pid == 300 ? 0 : 1'000'000;
      process.command_line = command;
      builder.writer().add<trace::tables::Process>(process);
      builder.writer().add<trace::tables::CounterSeries>({id, builder.writer().keep("process.rss"),
                                                          builder.writer().keep("bytes"), pid << 24,
                                                          std::nullopt, ""});
    };
    series(100, 300, "python train.py");
    series(101, 301, command_of_worker);
    std::int64_t t = 0;
    for (int i = 0; i < 40; ++i, t += 100'000'000) {
      builder.range(1, "step", t, t + 100'000'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 90'000'000);
      builder.writer().add<trace::tables::Counter>({100, t, 900e6});
      builder.writer().add<trace::tables::Counter>({101, t + 1, 400e6 + 5e6 * i});
      builder.counter("machine.memory_available", "bytes", t, 20e9);
    }
    return test::AnalyzedRun(builder).finding("memory-growth").status;
  };
  CHECK(status("python train.py") == Status::kFine);
  CHECK(status("python -c from multiprocessing.spawn import spawn_main") == Status::kFound);
}

TEST_CASE("memory-growth cannot tell without samples or with few steps") {
  test::TextRun silent("thread main\n  steps 40\n    launch s16816gemm 100ms\n    sync stream\n");
  CHECK(silent.finding("memory-growth").status == Status::kCannotTell);
  test::TextRun few(
      "counter process.rss 1000MB unit=bytes\nthread main\n  steps 6\n    launch s16816gemm 100ms\n"
      "    sync stream\n");
  CHECK(few.finding("memory-growth").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
