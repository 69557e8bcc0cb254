// SPDX-License-Identifier: MIT
// Profiles of JAX and TensorFlow: what becomes of the planes of GPUs, TPUs and the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "tests/trace/import/kineto_file.h"
#include "tests/trace/import/xplane_file.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

using test::ContentFile;
using test::Ref;
using test::XPlane;
using test::xspace;

Trace load_planes(const std::vector<XPlane>& planes) {
  ContentFile file(xspace(planes), "node7.xplane.pb");
  return load(file.path, {.threads = 2});
}

std::optional<std::uint32_t> op_named(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    if (trace.strings[trace.device_ops.name[i]] == name) return i;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> range_named(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.strings[trace.ranges.name[i]] == name) return i;
  }
  return std::nullopt;
}

std::string_view call_thread(const Trace& trace, std::uint32_t op) {
  CallId call = trace.device_ops.call[op];
  REQUIRE(call.valid());
  return trace.threads[trace.calls.thread[call.value].value].name;
}

XPlane gpu(int ordinal = 0) {
  return XPlane("/device:GPU:" + std::to_string(ordinal))
      .stats({{"device_vendor", "Nvidia"},
              {"core_count", 132},
              {"memory_size", std::int64_t{80} << 30},
              {"memory_bandwidth", 3'350'000'000'000},
              {"clock_rate", 1'980'000},
              {"compute_cap_major", 9}});
}

}  // namespace

TEST_CASE(
    "a GPU's kernels, copies and sets have their streams, launches and names of the program") {
  std::string details = "grid:4,2,1 block:128,1,1 regs:32";
  XPlane device = gpu();
  device.line(14, "Stream #14(Compute,MemcpyH2D)")
      .event(
          "MemcpyH2D", 100, 50,
          {{"correlation_id", 1},
           {"memcpy_details", Ref{"kind_src:pageable kind_dst:device size:2048 dest:0 async:1"}}})
      .event("input_fusion_reduce", 200, 100,
             {{"correlation_id", 2},
              {"hlo_op", Ref{"input_fusion_reduce.3"}},
              {"hlo_module", Ref{"jit_train_step"}},
              {"name", Ref{"jit(train_step)/transpose(jvp(loss))/reduce_sum"}},
              {"kernel_details", Ref{details}}})
      .event("Memset", 320, 10, {{"memset_details", Ref{"kind:device size:64 async:1"}}});
  device.line(15, "Stream #15(AllReduce)")
      .event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 250, 200,
             {{"correlation_id", 3},
              {"hlo_op", Ref{"all-reduce-start.1"}},
              {"hlo_module", Ref{"jit_train_step"}}});
  // Lines that are made from the streams would count everything twice.
  device.line(1, "XLA Ops").event("input_fusion_reduce.3", 200, 100);
  XPlane host("/host:CPU");
  host.line(42, "python")
      .event("train", 0, 500, {{"step_num", 7}})
      .event("cuLaunchKernel", 150, 20, {{"correlation_id", 2}})
      .event("cuMemcpyHtoDAsync_v2", 80, 10, {{"correlation_id", 1}});
  Trace trace = load_planes({device, host});

  REQUIRE(trace.device_ops.size() == 4);
  const Device& found = trace.devices.at(0);
  CHECK(found.type == DeviceType::kCuda);
  CHECK(found.name == "Nvidia GPU");
  CHECK(found.cores == 132);
  CHECK(found.max_clock_hz == 1'980'000'000);
  CHECK(found.compute_major == 9);
  CHECK(found.memory_bytes_per_second == 3'350'000'000'000);

  std::uint32_t copy = *op_named(trace, "MemcpyH2D");
  CHECK(trace.device_ops.kind[copy] == DeviceOpKind::kCopyHostToDevice);
  CHECK(trace.device_ops.bytes[copy] == 2048);
  CHECK(trace.device_ops.source_memory[copy] == MemoryKind::kPageable);
  std::uint32_t kernel = *op_named(trace, "input_fusion_reduce");
  CHECK(trace.device_ops.interval({kernel}).length().ns == 100);
  CHECK(trace.device_ops.blocks[kernel] == 8);
  CHECK(trace.device_ops.block_threads[kernel] == 128);
  CHECK(trace.device_ops.phase[kernel] == Phase::kBackward);
  CHECK(trace.calls.kind[trace.device_ops.call[kernel].value] == DeviceCallKind::kLaunch);
  CHECK(trace.streams[trace.device_ops.stream[kernel].value].ordinal == 14);
  const GraphOp& op = trace.graph_ops.at(static_cast<std::size_t>(trace.device_ops.op[kernel]));
  CHECK(op.name == "input_fusion_reduce.3");
  CHECK(op.type == "reduce_sum");
  CHECK(trace.device_ops.kind[*op_named(trace, "Memset")] == DeviceOpKind::kMemset);
  CHECK(trace.device_ops.bytes[*op_named(trace, "Memset")] == 64);
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.strings[trace.collectives[0].kind] == "allreduce");
  CHECK(trace.device_ops.kind[trace.collectives[0].op.value] == DeviceOpKind::kCommunication);
  std::uint32_t step = *range_named(trace, "train");
  CHECK(trace.info({step})->kind == RangeKind::kStep);
  CHECK(trace.info({step})->step == 7);
  CHECK(trace.meta_value(meta::kHost) == "node7");
  CHECK(trace.complete);
}

TEST_CASE("copies between the GPUs of a host are peer copies, whatever their name") {
  std::string details = "kind:Unknown size:4096 dest:1 async:1";
  XPlane first = gpu(0);
  first.line(8, "Stream #8(MemcpyOther)")
      .event("CopyDeviceToDevice", 0, 10, {{"memcpy_details", Ref{details}}});
  XPlane second = gpu(1);
  second.line(9, "Stream #9(MemcpyOther)")
      .event("CopyDeviceToDevice", 20, 10, {{"memcpy_details", Ref{details}}});
  Trace trace = load_planes({first, second});
  REQUIRE(trace.device_ops.size() == 2);
  CHECK(trace.device_ops.kind[0] == DeviceOpKind::kCopyPeer);
  CHECK(trace.device_ops.kind[1] == DeviceOpKind::kCopyDeviceToDevice);
  CHECK(trace.device_ops.bytes[0] == 4096);
}

TEST_CASE(
    "a TPU's ops count with the time they have to themselves, and hang on the program's run") {
  std::string all_reduce = "%all-reduce.5 = (f32[16,8]{1,0}, bf16[4]{0}) all-reduce(%a, %b)";
  XPlane device("/device:TPU:0");
  device.stats({{"device_type_string", "TPU v4"}});
  device.kind_stats("%fusion.1 = f32[8] fusion(%x)",
                    {{"hlo_category", Ref{"convolution fusion"}},
                     {"flops", 1000},
                     {"bytes_accessed", 64},
                     {"tf_op", Ref{"jit(step)/jvp(model)/dot_general"}}});
  device.line(1, "XLA Modules").event("jit_step(123)", 100, 400, {{"run_id", 77}});
  device.line(2, "XLA Ops")
      .event("%while.2 = f32[8] while(%t)", 100, 300)
      .event("%fusion.1 = f32[8] fusion(%x)", 120, 100)
      .event("%fusion.1 = f32[8] fusion(%x)", 230, 170)
      .event(all_reduce, 400, 100);
  device.line(3, "Steps").event("5", 100, 400);
  XPlane host("/host:CPU");
  host.line(9, "python").event("TpuExecutable::Execute", 40, 20, {{"run_id", 77}});
  Trace trace = load_planes({device, host});

  CHECK(trace.devices.at(0).name == "TPU v4");
  std::vector<std::pair<std::string, std::int64_t>> ops;
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    std::int64_t length = trace.device_ops.interval({i}).length().ns;
    ops.emplace_back(trace.strings[trace.device_ops.name[i]], length);
    total += length;
    CHECK(call_thread(trace, i) == "python");
  }
  CHECK(ops == std::vector<std::pair<std::string, std::int64_t>>{{"while.2", 20},
                                                                 {"fusion.1", 100},
                                                                 {"while.2", 10},
                                                                 {"fusion.1", 170},
                                                                 {"all-reduce.5", 100}});
  CHECK(total == 400);
  std::uint32_t fusion = *op_named(trace, "fusion.1");
  CHECK(trace.device_ops.flops[fusion] == 1000);
  CHECK(trace.device_ops.bytes[fusion] == 64);
  CHECK(trace.device_ops.math_unit[fusion] == MathUnit::kTensor);
  CHECK(trace.device_ops.phase[fusion] == Phase::kForward);
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.collectives[0].bytes == 16 * 8 * 4 + 4 * 2);
  std::uint32_t step = *range_named(trace, "step 5");
  CHECK(trace.info({step})->step == 5);
}

TEST_CASE("without what the host says of it, a run of a TPU's program begins by itself") {
  XPlane device("/device:TPU:1");
  device.line(1, "XLA Modules").event("jit_step(123)", 100, 400, {{"run_id", 77}});
  device.line(2, "XLA Ops").event("%copy-start.1 = f32[8] copy-start(%x)", 100, 300);
  device.line(4, "Async XLA Ops").event("%copy-start.1 = f32[8] copy-start(%x)", 110, 200);
  Trace trace = load_planes({device});
  REQUIRE(trace.device_ops.size() == 2);
  CHECK(call_thread(trace, 0) == "TPU 1 programs");
  CHECK(trace.device_ops.kind[0] == DeviceOpKind::kCopyDeviceToDevice);
  CHECK(trace.streams.size() == 2);
}

TEST_CASE("parts of a TPU have streams of their own and no steps") {
  XPlane device("/device:TPU:0");
  device.line(2, "XLA Ops").event("%fusion.1 = f32[8] fusion(%x)", 100, 50);
  XPlane part("/device:TPU:0 SparseCore 1");
  part.line(2, "XLA Ops").event("%gather.1 = f32[8] gather(%x)", 110, 100);
  part.line(3, "Steps").event("5", 100, 400);
  Trace trace = load_planes({device, part});
  REQUIRE(trace.device_ops.size() == 2);
  CHECK(trace.devices.size() == 1);
  CHECK(trace.device_ops.stream[0] != trace.device_ops.stream[1]);
  CHECK_FALSE(range_named(trace, "step 5"));
}

TEST_CASE(
    "on a processor, ops are the device's and were set off by the thread that handed them over") {
  XPlane host("/host:CPU");
  host.line(-5, "python")
      .event("train", 0, 1000, {{"step_num", 0}})
      .event("PjitFunction(step)", 100, 50)
      .event("ThreadpoolListener::Record", 120, 0, {{"_pt", 15}, {"_p", 3}});
  host.line(-6, "tf_XLAPjRtCpuClient/-6")
      .event("ThreadpoolListener::StartRegion", 130, 0, {{"_ct", 15}, {"_c", 3}})
      .event("call.1", 140, 300, {{"hlo_op", Ref{"call.1"}}, {"hlo_module", Ref{"jit_step"}}})
      .event("dot.2", 150, 100, {{"hlo_op", Ref{"dot.2"}}, {"hlo_module", Ref{"jit_step"}}})
      .event("ThreadpoolListener::Record", 260, 0, {{"_pt", 15}, {"_p", 4}})
      .event("end: dot.2", 250, 1, {{"_ct", 0}})
      .event("ThreadpoolListener::StopRegion", 500, 0);
  host.line(-7, "tf_XLAEigen/-7")
      .event("ThreadpoolListener::StartRegion", 270, 0, {{"_ct", 15}, {"_c", 4}})
      .event("wrapped_tanh", 280, 20,
             {{"hlo_op", Ref{"wrapped_tanh"}}, {"hlo_module", Ref{"jit_step"}}})
      .event("ThreadpoolListener::StopRegion", 310, 0)
      .event("all-reduce", 600, 20,
             {{"hlo_op", Ref{"all-reduce"}}, {"hlo_module", Ref{"jit_step"}}});
  Trace trace = load_planes({host});

  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].type == DeviceType::kHost);
  REQUIRE(trace.device_ops.size() == 5);  // the call in two pieces around what it calls
  std::int64_t call = 0;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    if (trace.strings[trace.device_ops.name[i]] == "call.1")
      call += trace.device_ops.interval({i}).length().ns;
  }
  CHECK(call == 200);
  CHECK(call_thread(trace, *op_named(trace, "dot.2")) == "python");
  CHECK(call_thread(trace, *op_named(trace, "wrapped_tanh")) == "python");
  CHECK(trace.device_ops.call[*op_named(trace, "dot.2")] ==
        trace.device_ops.call[*op_named(trace, "wrapped_tanh")]);
  // Nobody handed this one over.
  CHECK(call_thread(trace, *op_named(trace, "all-reduce")) == "tf_XLAEigen");
  CHECK(trace.collectives.size() == 1);
  CHECK_FALSE(range_named(trace, "end: dot.2"));
  CHECK_FALSE(range_named(trace, "ThreadpoolListener::Record"));
}

TEST_CASE("beside a GPU the host's operators are the host's") {
  XPlane device = gpu();
  device.line(14, "Stream #14(Compute)").event("kernel", 200, 100);
  XPlane host("/host:CPU");
  host.line(1, "tf_Compute/1").event("dense/MatMul:MatMul", 0, 100, {}, "MatMul");
  Trace trace = load_planes({host, device});
  CHECK(trace.device_ops.size() == 1);
  CHECK(range_named(trace, "dense/MatMul:MatMul"));
}

TEST_CASE("tf.data's stages are input work, its batches those that the training thread takes") {
  XPlane host("/host:CPU");
  host.line(1, "python")
      .event("train", 0, 400, {{"step_num", 1}})
      .event("EagerLocalExecute: IteratorGetNext", 10, 100)
      .event("Iterator::Root::Prefetch", 20, 80, {}, "Iterator::Prefetch")
      .event("PrefetchConsume", 95, 1, {{"element_id", 900}})
      .event("dense/MatMul:MatMul", 200, 100, {}, "MatMul");
  host.line(2, "tf_data_iterator_resource/2")
      .event("PrefetchProduce", 5, 85, {{"element_id", 900}})
      .event("Iterator::Root::Prefetch::BatchV2", 6, 80, {}, "Iterator::BatchV2")
      .event("Iterator::Root::Prefetch::BatchV2::MapV2", 10, 40, {}, "Iterator::MapV2")
      .event("Iterator::Root::Prefetch::BatchV2::MapV2::TFRecord", 12, 10, {}, "Iterator::TFRecord")
      .event("DecodeJpeg:DecodeJpeg", 25, 20, {}, "DecodeJpeg")
      .event("PrefetchProduce", 100, 50, {{"element_id", 901}});
  Trace trace = load_planes({host});

  auto info = [&](std::string_view name) {
    std::optional<std::uint32_t> range = range_named(trace, name);
    REQUIRE(range);
    const RangeInfo* what = trace.info({*range});
    return what ? *what : RangeInfo{};
  };
  CHECK(info("EagerLocalExecute: IteratorGetNext").kind == RangeKind::kInputWait);
  CHECK(info("EagerLocalExecute: IteratorGetNext").batch == 0);
  CHECK(info("PrefetchProduce").kind == RangeKind::kBatch);
  CHECK(info("PrefetchProduce").batch == 0);
  CHECK(info("Iterator::Root::Prefetch::BatchV2").kind == RangeKind::kCollate);
  CHECK(info("Iterator::Root::Prefetch::BatchV2::MapV2").kind == RangeKind::kAugment);
  CHECK(info("Iterator::Root::Prefetch::BatchV2::MapV2::TFRecord").kind == RangeKind::kRead);
  // Its own operators are no work of the device.
  CHECK(info("DecodeJpeg").kind == RangeKind::kDecode);
  REQUIRE(trace.device_ops.size() == 1);
  CHECK(trace.graph_ops.at(static_cast<std::size_t>(trace.device_ops.op[0])).name ==
        "dense/MatMul");
  // Nobody took the second batch in this recording.
  std::int64_t batches =
      std::count_if(trace.range_info.begin(), trace.range_info.end(),
                    [](const RangeInfo& one) { return one.kind == RangeKind::kBatch; });
  CHECK(batches == 1);
}

TEST_CASE("Python's functions and the allocator's state are read") {
  XPlane host("/host:CPU");
  host.stats({{"process_id", 4711}});
  host.line(1, "python")
      .event("$train.py:12 step", 0, 100)
      .event("$time sleep", 10, 5)
      .event(
          "MemoryAllocation", 50, 0,
          {{"allocator_name", Ref{"GPU_1_bfc"}}, {"bytes_allocated", 4096}, {"bytes_reserved", 0}})
      .event("MemoryDeallocation", 20, 0,
             {{"allocator_name", Ref{"GPU_1_bfc"}}, {"bytes_allocated", 1024}});
  Trace trace = load_planes({host});
  CHECK(range_named(trace, "train.py(12): step"));
  CHECK(range_named(trace, "time sleep"));
  CHECK(trace.processes.at(0).pid == 4711);
  REQUIRE(trace.counters.size() == 1);
  CHECK(trace.counters[0].name == "memory.allocated");
  CHECK(trace.counters[0].device == 1);
  CHECK(trace.counters[0].value == std::vector<double>{1024, 4096});
}

TEST_CASE("the wall clock is that of the lines, or of the profile's begin") {
  constexpr std::int64_t kStart = 1'795'464'261'000'000'000;
  XPlane host("/host:CPU");
  host.line(1, "python", 500).event("a", 500, 10);
  XPlane task("Task Environment");
  task.stats({{"profile_start_time", kStart}});
  CHECK(load_planes({host, task}).start_utc_ns == kStart + 1000);
  XPlane absolute("/host:CPU");
  absolute.line(1, "python", kStart).event("a", 500, 10);
  CHECK(load_planes({absolute, task}).start_utc_ns == kStart + 500);
  CHECK(load_planes({absolute, task}).ranges.start[0].ns == 0);
}

TEST_CASE("an op of a module bears the module's name where there are several") {
  XPlane device = gpu();
  device.line(14, "Stream #14")
      .event("k1", 0, 10, {{"hlo_op", Ref{"fusion.1"}}, {"hlo_module", Ref{"jit_a"}}})
      .event("k2", 20, 10, {{"hlo_op", Ref{"fusion.1"}}, {"hlo_module", Ref{"jit_b"}}});
  Trace trace = load_planes({device});
  REQUIRE(trace.graph_ops.size() == 2);
  CHECK(trace.graph_ops[0].name == "jit_a/fusion.1");
  CHECK(trace.graph_ops[1].name == "jit_b/fusion.1");
}

}  // namespace headway::trace
