// SPDX-License-Identifier: MIT
#include "trace/load/load.h"

#include <doctest/doctest.h>

#include "tests/support/trace_builder.h"
#include "trace/load/cuda_api.h"
#include "trace/tables/all.h"

namespace headway::trace {
namespace {

std::int64_t loss(const Trace& trace, std::string_view name) {
  for (const LossCount& count : trace.losses) {
    if (count.name == name) return count.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("ranges nest by containment on their thread, whatever the order in the file") {
  test::TraceBuilder builder;
  builder.range(1, "inner", 20, 30);
  builder.range(2, "other thread", 5, 95);
  builder.range(1, "outer", 10, 90);
  builder.range(1, "later", 40, 50);
  builder.range(1, "innermost", 22, 25);
  Trace trace = builder.load();
  auto find = [&](std::string_view name) {
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
      if (trace.strings[trace.ranges.name[i]] == name) return RangeId{i};
    }
    return RangeId::none();
  };
  auto parent = [&](std::string_view name) { return trace.ranges.parent[find(name).value]; };
  CHECK(!parent("outer").valid());
  CHECK(!parent("other thread").valid());
  CHECK(parent("inner") == find("outer"));
  CHECK(parent("innermost") == find("inner"));
  CHECK(parent("later") == find("outer"));
  CHECK(trace.ranges.depth[find("innermost").value] == 2);
  CHECK(std::is_sorted(trace.ranges.start.begin(), trace.ranges.start.end()));
}

TEST_CASE(
    "an input wait that was learned of later lies where it was, and one with an op alone stays") {
  test::TraceBuilder builder;
  builder.range(1, "train_step", 1'000'000, 9'000'000);
  RangeInfo told{.kind = RangeKind::kInputWait, .op = 3'000};
  told.sequence = 9'000;
  builder.range(1, "IteratorGetNext", 10'000'000, 10'000'500, told);
  builder.range(1, "next", 11'000'000, 12'000'000, {.kind = RangeKind::kInputWait, .op = 7});
  const Trace trace = builder.load();
  REQUIRE(trace.ranges.size() == 3);
  CHECK(trace.strings[trace.ranges.name[1]] == "IteratorGetNext");
  CHECK(trace.ranges.start[1].ns == 1'000'000);
  CHECK(trace.ranges.end[1].ns == 4'000'000);
  CHECK(trace.ranges.parent[1] == RangeId{0});
  CHECK(trace.ranges.interval(RangeId{2}).length().ns == 1'000'000);
  CHECK(trace.info(RangeId{2})->op == 7);
}

TEST_CASE("a step that says at its end that it was an evaluation is called one") {
  test::TraceBuilder builder;
  const RangeInfo evaluation{.kind = RangeKind::kPhase, .phase = Phase::kEvaluation};
  builder.range(1, "step", 10, 20, evaluation);
  builder.range(1, "step", 30, 40, {.kind = RangeKind::kStep, .step = 0});
  builder.range(1, "nn.Module: Net", 50, 60, evaluation);
  const Trace trace = builder.load();
  const auto name = [&](std::uint32_t range) { return trace.strings[trace.ranges.name[range]]; };
  CHECK(name(0) == "evaluation batch");
  CHECK(name(1) == "step");
  CHECK(name(2) == "nn.Module: Net");
}

TEST_CASE("a device op finds the call that enqueued it and the call finds its op") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 5, 10, 20, {.name = "first"});
  builder.launch(1, 5, 9, 20, 30, {.name = "second"});
  builder.call(1, DeviceCallKind::kStreamSynchronize, 9, 31);
  Trace trace = builder.load();
  REQUIRE(trace.device_ops.size() == 2);
  REQUIRE(trace.calls.size() == 3);
  CHECK(trace.device_ops.call[0] == CallId{0});
  CHECK(trace.device_ops.call[1] == CallId{1});
  CHECK(trace.calls.op[1] == DeviceOpId{1});
  CHECK(!trace.calls.op[2].valid());
  CHECK(trace.streams[trace.device_ops.stream[0].value].ordinal == 1);
  CHECK(loss(trace, "orphan_device_op") == 0);
}

TEST_CASE("what ranges, ops, settings and the graph say about themselves is kept") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = RangeKind::kStep, .batch = 3, .step = 7});
  builder.graph_op(4, "batch_norm", "layer1.bn", Phase::kForward, {2, 3}, 4096, 1024);
  builder.setting("workers", "2");
  builder.counter("process.cpu", "%", 10, 50.0);
  builder.counter("process.cpu", "%", 20, 70.0);
  builder.launch(1, 0, 1, 2, 3,
                 {.phase = Phase::kForward, .op = 4, .batch = 3, .bytes = 99, .flops = 7});
  Trace trace = builder.load();
  const RangeInfo* info = trace.info(RangeId{0});
  REQUIRE(info);
  CHECK(info->kind == RangeKind::kStep);
  CHECK(info->step == 7);
  CHECK(info->op == conventions::kAbsent);
  const GraphOp* op = trace.graph_op(trace.devices[0].process, 4);
  REQUIRE(op);
  CHECK(op->type == "batch_norm");
  CHECK(op->inputs == std::vector<std::int64_t>{2, 3});
  CHECK(trace.setting("workers") == "2");
  REQUIRE(trace.counters.size() == 1);
  CHECK(trace.counters[0].value == std::vector<double>{50, 70});
  CHECK(trace.device_ops.op[0] == 4);
  CHECK(trace.device_ops.flops[0] == 7);
}

TEST_CASE("rows that cannot be are set aside and counted") {
  test::TraceBuilder builder;
  builder.range(1, "backwards", 900, 512);
  builder.range(1, "far away", INT64_MAX - 5, INT64_MAX);
  builder.range(1, "good", 1, 2);
  builder.launch(1, 50, 60, 10, 20, {.name = "before its launch"});
  Trace trace = builder.load();
  CHECK(trace.ranges.size() == 1);
  CHECK(loss(trace, "negative_duration") == 1);
  CHECK(loss(trace, "time_out_of_range") == 1);
  CHECK(loss(trace, "op_before_launch") == 1);
}

TEST_CASE("a range that never ended lasts until its process died") {
  test::TraceBuilder builder;
  builder.open_range(1, "step", 10, {.kind = RangeKind::kStep});
  builder.range(1, "inner", 20, 30);
  builder.process_killed(9, 75);
  Trace trace = builder.load();
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.ranges.is(RangeId{0}, Ranges::kUnfinished));
  CHECK(trace.ranges.end[0].ns == 75);
  CHECK(trace.ranges.parent[1] == RangeId{0});
  CHECK(trace.processes[0].signal == 9);
}

TEST_CASE("groups hold the rows of a thread in order") {
  test::TraceBuilder builder;
  builder.range(1, "a", 0, 1);
  builder.range(2, "b", 1, 2);
  builder.range(1, "c", 2, 3);
  Trace trace = builder.load();
  ThreadId first = trace.ranges.thread[0];
  auto rows = trace.ranges_of_thread[first];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == RangeId{0});
  CHECK(rows[1] == RangeId{2});
}

TEST_CASE("loading with one thread and with four gives the same columns") {
  test::TraceBuilder builder;
  for (int i = 0; i < 300000; ++i) builder.range(1 + i % 3, i % 2 ? "a" : "b", i * 10, i * 10 + 5);
  auto path = builder.save();
  Trace one = load(path, {.threads = 1});
  Trace four = load(path, {.threads = 4});
  CHECK(one.ranges.size() == 300000);
  CHECK(one.ranges.start == four.ranges.start);
  CHECK(one.ranges.name == four.ranges.name);
  CHECK(one.ranges.thread == four.ranges.thread);
}

TEST_CASE("CUDA calls are classified by name, with or without version suffixes") {
  using load_detail::cuda_call_kind;
  CHECK(cuda_call_kind("cudaLaunchKernel_v7000") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("cuLaunchKernelEx") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("cudaLaunchKernelExC_v11060_ptsz") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("cudaMemcpyAsync_v3020") == DeviceCallKind::kCopy);
  CHECK(cuda_call_kind("cuMemcpyHtoD_v2") == DeviceCallKind::kCopyBlocking);
  CHECK(cuda_call_kind("cudaStreamSynchronize_v3020") == DeviceCallKind::kStreamSynchronize);
  CHECK(cuda_call_kind("cudaMallocAsync_v11020") == DeviceCallKind::kAllocate);
  CHECK(cuda_call_kind("cuMemAlloc_v2") == DeviceCallKind::kAllocate);
  CHECK(cuda_call_kind("cuMemFree_v2") == DeviceCallKind::kFree);
  CHECK(cuda_call_kind("cuMemSetAccess") == DeviceCallKind::kAllocate);
  CHECK(cuda_call_kind("cuMemUnmap") == DeviceCallKind::kFree);
  CHECK(cuda_call_kind("cudaGraphLaunch_v10000") == DeviceCallKind::kGraphLaunch);
  CHECK(cuda_call_kind("cudaGetDevice") == DeviceCallKind::kOther);
  CHECK(cuda_call_kind("pthread_mutex_lock") == DeviceCallKind::kOther);
}

TEST_CASE("loading reports its progress, and what the report throws ends it") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100);
  std::filesystem::path path = builder.save();
  std::vector<double> shares;
  load(path, {.threads = 1, .progress = [&](double share) { shares.push_back(share); }});
  REQUIRE(!shares.empty());
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.back() == 1);
  struct Cancelled {};
  CHECK_THROWS_AS(load(path, {.threads = 1, .progress = [](double) { throw Cancelled(); }}),
                  Cancelled);
}

}  // namespace headway::trace
