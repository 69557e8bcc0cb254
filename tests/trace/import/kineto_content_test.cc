// SPDX-License-Identifier: MIT
// What each kind of record of PyTorch's profiler becomes.
#include <doctest/doctest.h>

#include "tests/trace/import/kineto_file.h"
#include "trace/import/kineto/decimal.h"
#include "trace/load/cuda_api.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

using test::load_events;
using test::load_text;
using test::loss;

RangeId find_range(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.strings[trace.ranges.name[i]] == name) return RangeId{i};
  }
  return RangeId::none();
}

std::string domain_of(const Trace& trace, RangeId range) {
  return trace.domains[trace.ranges.domain[range.value].value];
}

constexpr std::string_view kLaunchAndKernel = R"(
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":100.250,"dur":3.125,
 "args":{"External id":5,"cbid":211,"correlation":77}},
{"ph":"X","cat":"Kernel","name":"gemm<1, 2>","pid":3,"tid":7,"ts":104.001,"dur":5.999,
 "args":{"device":3,"context":1,"stream":7,"correlation":77,"grid":[4,2,1],"block":[128,2,1]}})";

}  // namespace

TEST_CASE("decimal microseconds become nanoseconds without rounding") {
  auto ns = [](std::string_view token) {
    std::int64_t value = -1;
    REQUIRE(kineto::parse_scaled(token, 3, value));
    return value;
  };
  CHECK(ns("1712195495519695.8") == 1712195495519695800);
  CHECK(ns("3743411230047.485") == 3743411230047485);
  CHECK(ns("\"12.5\"") == 12500);
  CHECK(ns("1661203462598738") == 1661203462598738000);
  CHECK(ns("0.0004") == 0);
  CHECK(ns("0.0005") == 1);
  CHECK(ns("-1.5") == -1500);
  CHECK(ns("1.712195495519689e15") == 1712195495519689000);
  CHECK(ns("25e-1") == 2500);
  std::int64_t value = 0;
  for (std::string_view bad : {"", "NaN", "Infinity", "-", ".", "1e", "1.2.3", "99999999999999999",
                               "1e30", "0x10", "\"\"", "12abc"}) {
    CAPTURE(bad);
    CHECK(!kineto::parse_scaled(bad, 3, value));
  }
}

TEST_CASE("a launch and its kernel find each other, in either spelling of the category") {
  Trace trace = load_events(kLaunchAndKernel);
  REQUIRE(trace.calls.size() == 1);
  REQUIRE(trace.device_ops.size() == 1);
  CHECK(trace.calls.start[0].ns == 0);
  CHECK(trace.calls.end[0].ns == 3125);
  CHECK(trace.calls.kind[0] == DeviceCallKind::kLaunch);
  CHECK(trace.device_ops.start[0].ns == 3751);
  CHECK(trace.device_ops.end[0].ns == 9750);
  CHECK(trace.device_ops.call[0] == CallId{0});
  CHECK(trace.calls.op[0] == DeviceOpId{0});
  CHECK(trace.device_ops.blocks[0] == 8);
  CHECK(trace.device_ops.block_threads[0] == 256);
  const Stream& stream = trace.streams[trace.device_ops.stream[0].value];
  CHECK(stream.ordinal == 7);
  CHECK(trace.devices[stream.device.value].ordinal == 3);
  CHECK(trace.processes[stream.process.value].pid == 9);
  CHECK(trace.losses.empty());
}

TEST_CASE("copies and sets carry their direction, memories and bytes, in old spellings too") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1,"dur":1,
 "args":{
  "device" : 0, "stream" : 7, "correlation" : 1, "bytes" : 4096}},
{"ph":"X","cat":"Memcpy","name":"Memcpy DtoH (Device -> Pinned)","pid":0,"tid":"stream 7","ts":2,"dur":1,
 "args":{"correlation":2,"bytes":"8"}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy PtoP (Device -> Device)","pid":0,"tid":7,"ts":3,"dur":1,"args":{}},
{"ph":"X","cat":"Memset","name":"Memset (Device)","pid":0,"tid":7,"ts":4,"dur":1,"args":{"bytes":64}})");
  const DeviceOps& ops = trace.device_ops;
REQUIRE(ops.size() == 4);
CHECK(ops.kind[0] == DeviceOpKind::kCopyHostToDevice);
CHECK(ops.source_memory[0] == MemoryKind::kPageable);
CHECK(ops.destination_memory[0] == MemoryKind::kDevice);
CHECK(ops.bytes[0] == 4096);
CHECK(ops.kind[1] == DeviceOpKind::kCopyDeviceToHost);
CHECK(ops.destination_memory[1] == MemoryKind::kPinned);
CHECK(ops.bytes[1] == 8);
CHECK(ops.stream[1] == ops.stream[0]);
CHECK(ops.kind[2] == DeviceOpKind::kCopyPeer);
CHECK(ops.kind[3] == DeviceOpKind::kMemset);
CHECK(loss(trace, "orphan_device_op") == 4);
}

TEST_CASE("host ranges keep their category, nesting, shapes and sequence") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#12","pid":9,"tid":9,"ts":10,"dur":100,"args":{}},
{"ph":"X","cat":"Operator","name":"aten::linear","pid":9,"tid":9,"ts":20,"dur":50,
 "args":{"Sequence number":41,"Input Dims":[[32, 1024],[]],"Input type":["float","Scalar"]}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":9,"tid":9,"ts":30,"dur":10,"args":{"Input Dims":[[4]]}},
{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#12","pid":0,"tid":7,"ts":15,"dur":90,"args":{}},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":5,"dur":200},
{"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"T","ts":5})");
  RangeId linear = find_range(trace, "aten::linear");
REQUIRE(linear.valid());
CHECK(domain_of(trace, linear) == "cpu_op");
const RangeInfo* info = trace.info(linear);
REQUIRE(info);
CHECK(info->sequence == 41);
CHECK(trace.strings[info->shapes] == "[[32, 1024],[]]");
CHECK(trace.strings[info->dtypes] == "[\"float\",\"Scalar\"]");
RangeId addmm = find_range(trace, "aten::addmm");
CHECK(trace.ranges.parent[addmm.value] == linear);
CHECK(trace.ranges.depth[addmm.value] == 2);
int steps = 0;
for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
  if (domain_of(trace, RangeId{i}) != "user_annotation") continue;
  ++steps;
  REQUIRE(trace.info(RangeId{i}));
  CHECK(trace.info(RangeId{i})->kind == RangeKind::kStep);
  CHECK(trace.info(RangeId{i})->step == 12);
}
CHECK(steps == 1);
RangeId mark = find_range(trace, "Iteration Start: PyTorch Profiler");
CHECK(trace.ranges.is(mark, Ranges::kMark));
// One program: the profiler's rows and the device's are threads of it, not processes.
CHECK(trace.processes.size() == 1);
CHECK(trace.threads.size() == 4);
}

TEST_CASE("a synchronisation completes the call that waited") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","pid":9,"tid":9,"ts":3,"dur":1,"args":{"correlation":6}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":9,"tid":9,"ts":5,"dur":9,"args":{"correlation":7}},
{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":20,"ts":3,"dur":0,
 "args":{"cuda_sync_kind":"Stream Wait Event","stream":20,"correlation":6,"device":0,"wait_on_stream":7,
 "wait_on_cuda_event_record_corr_id":5,"wait_on_cuda_event_id":2}},
{"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":0,"ts":5,"dur":9,
 "args":{"stream":4294967295,"correlation":7,"device":0}})");
  REQUIRE(trace.calls.size() == 3);
  CHECK(trace.calls.sync_id[0] == 5);
  CHECK(trace.calls.sync_id[1] == 5);
  REQUIRE(trace.calls.stream[1].valid());
  CHECK(trace.streams[trace.calls.stream[1].value].ordinal == 20);
  CHECK(!trace.calls.stream[2].valid());
  CHECK(trace.ranges.size() == 0);
}

TEST_CASE("launches without correlation ids are joined by their arrows") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,"args":{}},
{"ph":"s","id":31,"pid":9,"tid":9,"ts":1,"cat":"async_cpu_to_gpu","name":"async_gpu"},
{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"f","id":31,"pid":0,"tid":7,"ts":5,"cat":"async_cpu_to_gpu","name":"async_gpu","bp":"e"})");
  REQUIRE(trace.device_ops.size() == 1);
  CHECK(trace.device_ops.call[0] == CallId{0});
  CHECK(loss(trace, "orphan_device_op") == 0);
}

TEST_CASE("forward and backward are joined by their arrow where sequence numbers are missing") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"cpu_op","name":"fwd","pid":9,"tid":9,"ts":1,"dur":5,"args":{}},
{"ph":"X","cat":"cpu_op","name":"bwd","pid":9,"tid":10,"ts":20,"dur":5,"args":{"Sequence number":3}},
{"ph":"X","cat":"cpu_op","name":"fwd2","pid":9,"tid":9,"ts":7,"dur":2,"args":{}},
{"ph":"X","cat":"cpu_op","name":"bwd2","pid":9,"tid":10,"ts":30,"dur":5,"args":{}},
{"ph":"s","id":1,"pid":9,"tid":9,"ts":1,"cat":"fwdbwd","name":"fwdbwd"},
{"ph":"f","id":1,"pid":9,"tid":10,"ts":20,"cat":"fwdbwd","name":"fwdbwd","bp":"e"},
{"ph":"s","id":2,"pid":9,"tid":9,"ts":7,"cat":"fwdbwd","name":"fwdbwd"},
{"ph":"f","id":2,"pid":9,"tid":10,"ts":31,"cat":"fwdbwd","name":"fwdbwd","bp":"e"})");
  auto sequence = [&](std::string_view name) {
    const RangeInfo* info = trace.info(find_range(trace, name));
    return info ? info->sequence : conventions::kAbsent;
  };
  CHECK(sequence("fwd") == 3);
  CHECK(sequence("bwd") == 3);
  CHECK(sequence("fwd2") != conventions::kAbsent);
  CHECK(sequence("fwd2") == sequence("bwd2"));
  CHECK(sequence("fwd2") != 3);
}

TEST_CASE("Python's parents hold where rounding breaks containment") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"python_function","name":"outer","pid":9,"tid":9,"ts":1,"dur":10,"args":{"Python id":1,"Python parent id":null}},
{"ph":"X","cat":"python_function","name":"inner","pid":9,"tid":9,"ts":5,"dur":7,"args":{"Python id":2,"Python parent id":1}},
{"ph":"X","cat":"python_function","name":"stranger","pid":9,"tid":9,"ts":100,"dur":7,"args":{"Python id":3,"Python parent id":1}})");
  CHECK(trace.ranges.parent[find_range(trace, "inner").value] == find_range(trace, "outer"));
  CHECK(trace.ranges.depth[find_range(trace, "inner").value] == 1);
  CHECK(!trace.ranges.parent[find_range(trace, "stranger").value].valid());
}

TEST_CASE("collectives come from kernels that say so, else from the host's ranges") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":1,"dur":20,
 "args":{"Collective name":"allreduce","Seq":17,"dtype":"BFloat16","In msg nelems":1000,"Out msg nelems":1000,"Group size":8,"Process Group Name":"0"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":9,"tid":9,"ts":5,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":20,"ts":30,"dur":5,
 "args":{"device":0,"stream":20,"correlation":1,"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":1000,"Out msg nelems":1000,"Group size":8,"Process Group Name":"0"}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":50,"dur":20,
 "args":{"Collective name":"_allgather_base","dtype":"Float","In msg nelems":10,"Out msg nelems":80,"Group size":8,"Process Group Name":"1"}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":80,"dur":1,"args":{"Collective name":"wait"}})");
  REQUIRE(trace.collectives.size() == 2);
  const Collective& reduce = trace.collectives[0];
  CHECK(trace.strings[reduce.kind] == "allreduce");
  CHECK(reduce.op == DeviceOpId{0});
  CHECK(reduce.range.valid());
  CHECK(reduce.bytes == 2000);
  CHECK(reduce.sequence == 17);
  CHECK(reduce.ranks == 8);
  CHECK(trace.strings[reduce.communicator] == "0");
  CHECK(trace.device_ops.kind[0] == DeviceOpKind::kCommunication);
  CHECK(trace.device_ops.op[0] == -1);
  const Collective& gather = trace.collectives[1];
  CHECK(!gather.op.valid());
  CHECK(trace.strings[gather.kind] == "allgather");
  CHECK(gather.bytes == 320);
}

TEST_CASE("memory, counters, overhead and halves are kept") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"cpu_op","name":"op","pid":9,"tid":9,"ts":1,"dur":1},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":9,"ts":2,
 "args":{"Total Reserved":200,"Total Allocated":100,"Bytes":8,"Addr":1,"Device Id":1,"Device Type":1}},
{"args":{"used":2.5,"bad":NaN},"ph":"C","name":"queue","pid":9,"ts":3},
{"ph":"C","name":"queue","pid":9,"ts":4,"args":{"used":3}},
{"ph":"X","cat":"overhead","name":"Command Buffer Full","pid":-1,"tid":9,"ts":5,"dur":2},
{"ph":"B","cat":"mine","name":"outer","pid":9,"tid":9,"ts":10},
{"ph":"B","cat":"mine","name":"inner","pid":9,"tid":9,"ts":11},
{"ph":"E","pid":9,"tid":9,"ts":12},
{"ph":"E","pid":9,"tid":9,"ts":13},
{"ph":"b","cat":"a","id":"0x1","name":"request","pid":9,"tid":9,"ts":14},
{"ph":"e","cat":"a","id":"0x1","name":"request","pid":9,"tid":10,"ts":19},
{"ph":"B","cat":"mine","name":"open","pid":9,"tid":9,"ts":20},
{"ph":"P","name":"sample","pid":9,"tid":9,"ts":21})");
  REQUIRE(trace.counters.size() == 3);
  CHECK(trace.counters[0].name == "memory.allocated");
  CHECK(trace.counters[0].device == 1);
  CHECK(trace.counters[0].value == std::vector<double>{100});
  CHECK(trace.counters[2].name == "queue.used");
  CHECK(trace.counters[2].value == std::vector<double>{2.5, 3});
  CHECK(loss(trace, "unreadable_value") == 1);
  REQUIRE(trace.overheads.size() == 1);
  CHECK(trace.overheads[0].kind == Overhead::Kind::kQueueFull);
  CHECK(trace.overheads[0].thread.valid());
  RangeId outer = find_range(trace, "outer");
  RangeId inner = find_range(trace, "inner");
  CHECK(trace.ranges.interval(outer).length().ns == 3000);
  CHECK(trace.ranges.parent[inner.value] == outer);
  CHECK(trace.ranges.is(find_range(trace, "request"), Ranges::kStartEnd));
  CHECK(trace.ranges.interval(find_range(trace, "request")).length().ns == 5000);
  CHECK(trace.ranges.is(find_range(trace, "open"), Ranges::kUnfinished));
  CHECK(loss(trace, "unpaired_event") == 1);
  CHECK(loss(trace, "unknown_event") == 1);
}

TEST_CASE("devices, ranks and the clock come from beside the events") {
  Trace trace = load_text(R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","totalGlobalMem":85,
 "computeMajor":9,"computeMinor":0,"numSms":132}],"record_shapes":1,"baseTimeNanoseconds":1726000000000000000,
 "traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":7,"tid":7,"ts":5000.5,"dur":1},
 {"name":"process_name","ph":"M","ts":0,"pid":7,"tid":0,"args":{"name":"python3"}},
 {"name":"thread_name","ph":"M","ts":0,"pid":7,"tid":7,"args":{"name":"thread 7 (main)"
}
}],
 "distributedInfo":{
  "backend" : "nccl",
              "rank" : 3,
              "world_size" : 8,
              "pg_config" : [ {"pg_name" : "0", "ranks" : [ 0, 1, 2, 3 ]} ]
}
})");
  REQUIRE(trace.devices.size() == 1);
CHECK(trace.devices[0].cores == 132);
CHECK(trace.devices[0].compute_major == 9);
CHECK(trace.devices[0].memory_bytes == 85);
CHECK(trace.world_size == 8);
REQUIRE(trace.processes.size() == 1);
CHECK(trace.processes[0].rank == 3);
CHECK(trace.processes[0].name == "python3");
CHECK(trace.threads[0].name == "thread 7 (main)");
CHECK(trace.start_utc_ns == 1726000000005000500);
CHECK(trace.meta_value("process_group.0") == "0,1,2,3");
CHECK(trace.meta_value("kineto.record_shapes") == "1");
CHECK(trace.meta_value(meta::kDistributedRank) == "3");
}

TEST_CASE(
    "AMD's runtime calls are classified like CUDA's, its architecture is no CUDA capability") {
  using load_detail::cuda_call_kind;
  CHECK(cuda_call_kind("hipLaunchKernel") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("hipExtModuleLaunchKernel") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("hipModuleLaunchKernel") == DeviceCallKind::kLaunch);
  CHECK(cuda_call_kind("hipMemcpyAsync") == DeviceCallKind::kCopy);
  CHECK(cuda_call_kind("hipMemcpyWithStream") == DeviceCallKind::kCopyBlocking);
  CHECK(cuda_call_kind("hipStreamSynchronize") == DeviceCallKind::kStreamSynchronize);
  CHECK(cuda_call_kind("hipMalloc") == DeviceCallKind::kAllocate);
  Trace trace = load_text(
      R"({"hip_runtime_version":60443483,"deviceProperties":[{"id":2,"name":"AMD Instinct MI300X",
 "computeMajor":9,"computeMinor":4,"numSms":304}],"traceEvents":[)" +
      std::string(kLaunchAndKernel) + "]}");
  CHECK(trace.devices[1].ordinal == 2);
  CHECK(trace.devices[1].compute_major == 0);
  CHECK(trace.devices[1].cores == 304);
}

TEST_CASE("two recorded programs in one file keep their devices apart") {
  Trace trace = load_events(R"(
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,"ts":1,"dur":1,"args":{"correlation":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":200,"ts":1,"dur":1,"args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7,"correlation":5}},
{"ph":"X","cat":"kernel","name":"b","pid":1,"tid":7,"ts":6,"dur":1,"args":{"device":1,"stream":7,"correlation":6}})");
  REQUIRE(trace.device_ops.size() == 2);
  auto pid = [&](std::size_t op) {
    return trace.processes[trace.streams[trace.device_ops.stream[op].value].process.value].pid;
  };
  CHECK(pid(0) == 100);
  CHECK(pid(1) == 200);
  CHECK(loss(trace, "orphan_device_op") == 0);
}

}  // namespace headway::trace
