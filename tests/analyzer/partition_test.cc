// SPDX-License-Identifier: MIT
#include "analyzer/partition/partition.h"

#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "trace/tables/device_op.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;
using test::TraceBuilder;
using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::Phase;
using trace::RangeKind;

/// Times of the first step on the only device.
ClassTimes first_step(TraceBuilder& builder) {
  AnalyzedRun run(builder);
  return run.analysis.partitions.at(0).steps.at(0).times;
}

}  // namespace

TEST_CASE("a device that always has work queued is all compute and optimizer") {
  AnalyzedRun run(PlantedRun{});
  CHECK(run.ns(TimeClass::kComputeOther) == 1'000'000);
  CHECK(run.ns(TimeClass::kOptimizer) == 50'000);
  CHECK(run.analysis.partitions[0].per_steady_step.total().ns == 1'050'000);
  CHECK(run.analysis.median_step.ns == 1'050'000);
}

TEST_CASE("waiting for a batch is charged to what its worker did meanwhile") {
  AnalyzedRun run(PlantedRun{.read = 600'000, .decode = 200'000});
  CHECK(run.ns(TimeClass::kIoRead) == 600'000);
  CHECK(run.ns(TimeClass::kDecode) == 200'000);
  CHECK(run.ns(TimeClass::kLaunchGap) == 8'000);  // the latency of the first launch
}

TEST_CASE(
    "a wait for a batch that the worker had not begun is charged to the batch it was busy with") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 2000, {.kind = RangeKind::kStep});
  builder.range(2, "batch", 0, 600, {.kind = RangeKind::kBatch, .batch = 6});
  builder.range(2, "decode", 0, 600, {.kind = RangeKind::kDecode, .batch = 6});
  builder.range(2, "batch", 600, 900, {.kind = RangeKind::kBatch, .batch = 7});
  builder.range(2, "read", 600, 900, {.kind = RangeKind::kRead, .batch = 7});
  builder.range(1, "input wait", 100, 1000, {.kind = RangeKind::kInputWait, .batch = 7});
  builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kForward});
  builder.launch(1, 1000, 1010, 1010, 1500, {.phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kDecode].ns == 500);
  CHECK(times[TimeClass::kIoRead].ns == 300);
  CHECK(times[TimeClass::kInputOther].ns == 100);  // from the hand-over to the end of the wait
}

TEST_CASE("where no range says that a loader reads, its calls on files do") {
  auto times_of = [](bool with_read_stage) {
    TraceBuilder builder;
    builder.range(1, "step", 0, 2000, {.kind = RangeKind::kStep});
    builder.range(2, "batch", 0, 900, {.kind = RangeKind::kBatch, .batch = 7});
    builder.range(2, "decode", 400, 700, {.kind = RangeKind::kDecode, .batch = 7});
    if (with_read_stage) builder.range(3, "read", 0, 10, {.kind = RangeKind::kRead, .batch = 8});
    builder.io(2, trace::IoOp::kOpen, "/data/a", 50, 150, 0);
    builder.io(2, trace::IoOp::kRead, "/data/a", 200, 300, 5000);
    builder.io(2, trace::IoOp::kRead, "/data/a", 500, 600, 5000);
    builder.io(2, trace::IoOp::kRead, "/data/a", 700, 900, 50, 10, 20);  // short calls
    builder.io(2, trace::IoOp::kWrite, "/log", 310, 390, 5000);
    builder.range(1, "input wait", 100, 1000, {.kind = RangeKind::kInputWait, .batch = 7});
    builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kForward});
    builder.launch(1, 1000, 1010, 1010, 1500, {.phase = Phase::kUpdate});
    return first_step(builder);
  };
  ClassTimes times = times_of(false);
  CHECK(times[TimeClass::kIoRead].ns == 50 + 100 + 100);
  CHECK(times[TimeClass::kDecode].ns == 200);
  CHECK(times[TimeClass::kInputOther].ns == 900 - 250 - 200);
  CHECK(times_of(true)[TimeClass::kIoRead].ns == 0);  // the program knows better
}

TEST_CASE("loading on the training thread itself is charged to its stages") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 2000, {.kind = RangeKind::kStep});
  builder.range(1, "read", 100, 400, {.kind = RangeKind::kRead, .batch = 0});
  builder.range(1, "decode", 400, 900, {.kind = RangeKind::kDecode, .batch = 0});
  builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kForward});
  builder.launch(1, 900, 910, 910, 1500, {.phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kIoRead].ns == 300);
  CHECK(times[TimeClass::kDecode].ns == 500);
}

TEST_CASE("a wait that drains the queue owns the idle time until the next op starts") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 3000, {.kind = RangeKind::kStep});
  builder.launch(1, 0, 10, 20, 1000, {.phase = Phase::kForward});
  builder.call(1, DeviceCallKind::kStreamSynchronize, 10,
               1100);  // wakes up 100 ns after the device ran dry
  builder.launch(1, 1300, 1310, 1350, 2000, {.phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kHostSync].ns == 350);  // 100 blocked, 200 refill, 50 launch latency
  CHECK(times[TimeClass::kLaunchGap].ns == 20);  // the very first launch
}

TEST_CASE("a free that the device runs dry under owns the refill, one in stream order does not") {
  auto times_of = [](const char* name) {
    TraceBuilder builder;
    builder.range(1, "step", 0, 3000, {.kind = RangeKind::kStep});
    builder.launch(1, 0, 10, 20, 1000, {.phase = Phase::kForward});
    builder.call(1, DeviceCallKind::kFree, 10, 1100, 1, 0, name);
    builder.launch(1, 1300, 1310, 1350, 2000, {.phase = Phase::kUpdate});
    return first_step(builder);
  };
  ClassTimes times = times_of("cudaFree_v3020");
  CHECK(times[TimeClass::kAllocator].ns == 350);  // 100 in the call, 200 refill, 50 launch latency
  CHECK(times[TimeClass::kLaunchGap].ns == 20);   // the very first launch
  times = times_of("cudaFreeAsync_v11020");
  CHECK(times[TimeClass::kAllocator].ns == 100);
  CHECK(times[TimeClass::kLaunchGap].ns == 20 + 200 + 50);
}

TEST_CASE("a wait that returns while the device works costs nothing") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 3000, {.kind = RangeKind::kStep});
  builder.launch(1, 0, 10, 20, 1000, {.phase = Phase::kForward});
  builder.launch(1, 10, 20, 1000, 2000, {.phase = Phase::kUpdate});
  builder.call(1, DeviceCallKind::kEventSynchronize, 20, 1050);
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kHostSync].ns == 0);
  CHECK(times[TimeClass::kComputeOther].ns == 980);
}

TEST_CASE("host time before a late launch is a launch gap, allocation is the allocator's") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 3000, {.kind = RangeKind::kStep});
  builder.range(1, "op", 90, 600, {.kind = RangeKind::kOp, .op = 1});
  builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kForward});
  builder.call(1, DeviceCallKind::kAllocate, 200, 500);
  builder.launch(1, 600, 610, 650, 900, {.phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kAllocator].ns == 300);
  CHECK(times[TimeClass::kLaunchGap].ns == 20 + 100 + 100 + 50);
}

TEST_CASE("host time between steps is not the launch's fault") {
  TraceBuilder builder;
  builder.range(1, "epoch", 0, 3000);
  builder.range(1, "step", 0, 200, {.kind = RangeKind::kStep});
  builder.range(1, "step", 800, 1500, {.kind = RangeKind::kStep});
  builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kUpdate});
  builder.launch(1, 900, 910, 950, 1200, {.phase = Phase::kUpdate});
  AnalyzedRun run(builder);
  const ClassTimes& second = run.analysis.partitions[0].steps.at(1).times;
  CHECK(second[TimeClass::kBetweenSteps].ns == 600);
  CHECK(second[TimeClass::kLaunchGap].ns ==
        100 + 100 + 50);  // before and after it, and the latency
}

TEST_CASE(
    "an op launched in time that starts after an event is the front end's, its source's time is "
    "the source's class") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 5000, {.kind = RangeKind::kStep});
  builder.launch(
      1, 0, 5, 10, 1000,
      {.name = "copy", .stream = 2, .kind = DeviceOpKind::kCopyHostToDevice, .bytes = 4096});
  builder.call(1, DeviceCallKind::kEventRecord, 6, 7, 2, 77);
  builder.call(1, DeviceCallKind::kStreamWaitEvent, 8, 9, 1, 77);
  builder.launch(1, 10, 12, 1040, 2000, {.name = "kernel", .phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kH2d].ns == 990);
  CHECK(times[TimeClass::kFrontendGap].ns + times[TimeClass::kLaunchGap].ns == 10 + 40);
}

TEST_CASE("where ops overlap, compute hides copies and the hidden time is kept beside") {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i) {
    std::int64_t t = i * 2000;
    builder.range(1, "step", t, t + 1900, {.kind = RangeKind::kStep, .step = i});
    builder.launch(1, t, t + 5, t + 100, t + 1000, {.name = "kernel", .phase = Phase::kUpdate});
    builder.launch(1, t + 5, t + 9, t + 50, t + 400,
                   {.name = "copy", .stream = 2, .kind = DeviceOpKind::kCopyHostToDevice});
  }
  AnalyzedRun run(builder);
  CHECK(run.ns(TimeClass::kComputeOther) + run.ns(TimeClass::kOptimizer) == 900);
  CHECK(run.ns(TimeClass::kH2d) == 50);
  CHECK(run.analysis.partitions[0].hidden_h2d.ns == 300);
}

TEST_CASE("idle time before an op without a launch is unknown") {
  TraceBuilder builder;
  builder.range(1, "step", 0, 9000, {.kind = RangeKind::kStep});
  builder.launch(1, 0, 10, 20, 100, {.phase = Phase::kForward});
  trace::tables::DeviceOp::Row orphan;
  orphan.start = 6100;
  orphan.end = 6900;
  orphan.global_tid = TraceBuilder::kGlobalPid | 1001;
  orphan.stream_id = 1;
  orphan.kind = 1;
  builder.writer().add<trace::tables::DeviceOp>(orphan);
  builder.launch(1, 20, 30, 6900, 8000, {.phase = Phase::kUpdate});
  ClassTimes times = first_step(builder);
  CHECK(times[TimeClass::kUnknown].ns == 6000);
}

TEST_CASE("without steps the whole span of the device is one") {
  TraceBuilder builder;
  builder.launch(1, 0, 10, 20, 100, {});
  builder.launch(1, 200, 210, 250, 400, {});
  AnalyzedRun run(builder);
  REQUIRE(run.analysis.partitions.size() == 1);
  REQUIRE(run.analysis.partitions[0].steps.size() == 1);
  CHECK(run.analysis.partitions[0].steps[0].interval.length().ns == 380);
  CHECK(run.analysis.partitions[0].steps[0].times[TimeClass::kComputeOther].ns == 230);
}

}  // namespace headway::analyzer
