// SPDX-License-Identifier: MIT
#include "analyzer/partition/host_partition.h"

#include <doctest/doctest.h>

#include "analyzer/report/report.h"
#include "tests/analyzer/planted_run.h"
#include "tests/support/property.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/range_info.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::TraceBuilder;
using trace::RangeKind;

/// A loop on the CPU: 600 ns of ops, 100 of the optimizer, 150 waiting for a worker that decodes.
void cpu_loop(TraceBuilder& builder) {
  for (int i = 0; i < 6; ++i) {
    std::int64_t t = 1000 + i * 1000;
    builder.range(1, "step", t, t + 1000, {.kind = RangeKind::kStep, .step = i});
    builder.range(1, "input", t, t + 150, {.kind = RangeKind::kInputWait, .batch = i});
    builder.range(2, "batch", t, t + 140, {.kind = RangeKind::kBatch, .batch = i});
    builder.range(2, "decode", t, t + 140, {.kind = RangeKind::kDecode, .batch = i});
    builder.range(1, "conv2d", t + 150, t + 750);
    builder.range(1, "Optimizer.step#SGD.step", t + 800, t + 900);
  }
}

}  // namespace

TEST_CASE("a loop on the CPU is told by what its training thread did") {
  TraceBuilder builder;
  cpu_loop(builder);
  AnalyzedRun run(builder);
  REQUIRE(run.analysis.partitions.size() == 1);
  CHECK(!run.analysis.partitions[0].device.valid());
  CHECK(run.ns(TimeClass::kComputeOther) == 600);
  CHECK(run.ns(TimeClass::kOptimizer) == 100);
  CHECK(run.ns(TimeClass::kDecode) == 140);
  CHECK(run.ns(TimeClass::kInputOther) == 10);
  CHECK(run.ns(TimeClass::kHostOther) == 150);
  CHECK(run.analysis.median_step.ns == 1000);
}

TEST_CASE("a rank's wait is explained by a worker that the rank started, not by another rank's") {
  TraceBuilder builder;
  auto process = [&](std::int64_t pid, std::int64_t parent) {
    trace::tables::Process::Row row;
    row.global_pid = pid << 24;
    row.parent_pid = parent;
    builder.writer().add<trace::tables::Process>(row);
  };
  process(200, 1);  // another rank, whose worker reads, and comes first
  process(201, 200);
  process(150, 100);  // ours: a fork server
  process(151, 150);  // and its worker, which decodes
  auto stage = [&](std::int64_t pid, RangeKind kind, std::int64_t start, std::int64_t end) {
    for (RangeKind each : {RangeKind::kBatch, kind}) {
      trace::tables::NvtxEvents::Row row;
      row.start = start;
      row.end = end;
      row.event_type = 59;
      row.global_tid = pid << 24 | pid;
      row.text_id = builder.writer().intern("stage");
      trace::tables::RangeInfo::Row info;
      info.range_row = builder.writer().add<trace::tables::NvtxEvents>(row);
      info.kind = static_cast<std::int64_t>(each);
      info.batch = 0;
      builder.writer().add<trace::tables::RangeInfo>(info);
    }
  };
  stage(201, RangeKind::kRead, 0, 500);
  stage(151, RangeKind::kDecode, 0, 500);
  builder.range(1, "step", 0, 1000, {.kind = RangeKind::kStep, .step = 0});
  builder.range(1, "input", 0, 500, {.kind = RangeKind::kInputWait, .batch = 0});
  AnalyzedRun run(builder);
  CHECK(run.ns(TimeClass::kDecode) == 500);
  CHECK(run.ns(TimeClass::kIoRead) == 0);
}

TEST_CASE("communication on another thread counts while the training thread has nothing to do") {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i) {
    std::int64_t t = i * 1000;
    builder.range(1, "step", t, t + 1000, {.kind = RangeKind::kStep, .step = i});
    builder.range(1, "conv2d", t, t + 500);
    builder.range(2, "gloo:all_reduce", t + 400, t + 900);
  }
  AnalyzedRun run(builder);
  CHECK(run.ns(TimeClass::kComputeOther) == 500);
  CHECK(run.ns(TimeClass::kCommTransfer) == 400);
  CHECK(run.ns(TimeClass::kHostOther) == 100);
}

TEST_CASE("every report of a trace without devices names the thread and not a device") {
  TraceBuilder builder;
  builder.thread_name(1, "trainer");
  cpu_loop(builder);
  AnalyzedRun run(builder);
  for (ReportFormat format :
       {ReportFormat::kText, ReportFormat::kMarkdown, ReportFormat::kHtml, ReportFormat::kJson}) {
    std::string text = render(format, run.trace, run.analysis, {});
    CHECK(text.find("trainer") != std::string::npos);
  }
}

TEST_CASE("the classes of a host's steps sum to them, whatever its threads did") {
  test::check_property("host partition", [] {
    TraceBuilder builder;
    auto time = [&](std::int64_t from) { return *rc::gen::inRange<std::int64_t>(from, 3000); };
    int steps = *rc::gen::inRange(1, 5);
    for (int i = 0; i < steps; ++i)
      builder.range(1, "step", i * 600, i * 600 + *rc::gen::inRange(1, 600),
                    {.kind = RangeKind::kStep, .step = i});
    int ranges = *rc::gen::inRange(0, 15);
    for (int i = 0; i < ranges; ++i) {
      std::int64_t start = time(0);
      auto kind = static_cast<RangeKind>(*rc::gen::inRange(0, 10));
      if (kind == RangeKind::kStep) kind = RangeKind::kOther;
      builder.range(*rc::gen::inRange(1, 4), i % 3 ? "op" : "gloo:all_reduce", start, time(start),
                    {.kind = kind, .batch = *rc::gen::inRange(-1, 3)});
    }
    AnalyzedRun run(builder);
    RC_ASSERT(run.analysis.partitions.size() == 1);
    for (const DeviceStep& step : run.analysis.partitions[0].steps)
      RC_ASSERT(step.times.total() == step.interval.length());
  });
}

}  // namespace headway::analyzer
