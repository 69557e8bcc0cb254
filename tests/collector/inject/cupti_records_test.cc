// SPDX-License-Identifier: MIT
// The real libcupti, where there is one, on buffers made here of every kind of record: it works
// without a driver. What it steps by is what the recorder is told, and the decoder reads what it left.
#include <cupti.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <vector>

#include "collector/inject/activity.h"
#include "collector/record/decode/activity_decoder.h"
#include "tests/collector/run_recorder.h"

namespace headway::inject {
namespace {

struct Kind {
  CUpti_ActivityKind kind;
  std::size_t bytes;
};
// The newest structures of the headers that this was built with.
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5)},
    {CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext3)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10)},
    {CUPTI_ACTIVITY_KIND_NAME, sizeof(CUpti_ActivityName)},
    {CUPTI_ACTIVITY_KIND_MARKER, sizeof(CUpti_ActivityMarker2)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3)},
    {CUPTI_ACTIVITY_KIND_ENVIRONMENT, sizeof(CUpti_ActivityEnvironment)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, sizeof(CUpti_ActivityCudaEvent2)},
    {CUPTI_ACTIVITY_KIND_STREAM, sizeof(CUpti_ActivityStream)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2)},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, sizeof(CUpti_ActivityExternalCorrelation)},
    {CUPTI_ACTIVITY_KIND_NVLINK, sizeof(CUpti_ActivityNvLink4)},
    {CUPTI_ACTIVITY_KIND_PCIE, sizeof(CUpti_ActivityPcie)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(CUpti_ActivityMemory4)},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, sizeof(CUpti_ActivityMemoryPool3)},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(CUpti_ActivityGraphTrace2)},
    {CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit2)},
};

/// The library of the toolkit that this was built with, loaded under its name, so that Headway's own
/// search finds it. Null where there is none.
Cupti* real_cupti() {
  for (const char* path : {"libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                           "/usr/local/cuda/lib64/libcupti.so.13"}) {
    if (::dlopen(path, RTLD_NOW | RTLD_GLOBAL)) break;
  }
  Cupti& cupti = installed_cupti();
  return cupti.open() == nullptr && cupti.version() == CUPTI_API_VERSION ? &cupti : nullptr;
}

std::vector<std::uint8_t> buffer_of_every_kind(int times) {
  std::vector<std::uint8_t> buffer;
  for (int i = 0; i < times; ++i) {
    for (const Kind& kind : kKinds) {
      std::size_t at = buffer.size();
      buffer.resize(at + kind.bytes);
      std::memcpy(buffer.data() + at, &kind.kind, sizeof kind.kind);
    }
  }
  return buffer;
}

}  // namespace

TEST_CASE("real CUPTI: the step that is measured for each kind is the size of its record") {
  Cupti* cupti = real_cupti();
  if (!cupti) {
    MESSAGE("[skipped] no libcupti.so.13 of the version of the headers");
    return;
  }
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.kind);
    CHECK(activity_stride(*cupti, static_cast<std::uint32_t>(kind.kind)) == kind.bytes);
  }
  CHECK(activity_stride(*cupti, 0) == 0);
}

TEST_CASE("real CUPTI: it steps over a mixed buffer of every kind record by record") {
  Cupti* cupti = real_cupti();
  if (!cupti) {
    MESSAGE("[skipped] no libcupti.so.13 of the version of the headers");
    return;
  }
  std::vector<std::uint8_t> buffer = buffer_of_every_kind(3);
  std::uint8_t* record = nullptr;
  std::size_t offset = 0;
  for (int i = 0; i < 3; ++i) {
    for (const Kind& kind : kKinds) {
      CAPTURE(kind.kind);
      REQUIRE(cupti->next_record(buffer.data(), buffer.size(), &record));
      CHECK(record == buffer.data() + offset);
      offset += kind.bytes;
    }
  }
  CHECK(!cupti->next_record(buffer.data(), buffer.size(), &record));
  // One byte short: the last record is not there.
  buffer.pop_back();
  record = nullptr;
  std::size_t count = 0;
  while (cupti->next_record(buffer.data(), buffer.size(), &record)) ++count;
  CHECK(count == 3 * std::size(kKinds) - 1);
}

TEST_CASE("records as CUPTI's structures lay them out become rows") {
  test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "run.sqlite";
  record::ClockReading origin = record::read_clocks();
  origin.realtime_ns -= 1'000'000'000;
  origin.monotonic_ns -= 1'000'000'000;
  const auto now = static_cast<std::uint64_t>(origin.realtime_ns) + 500'000'000;
  record::SegmentData data;
  auto put = [&](const auto& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    std::size_t at = data.activity.size();
    data.activity.insert(data.activity.end(), from, from + sizeof value);
    data.buffers.push_back({at, sizeof value, false, data.buffers.size()});
    std::uint32_t kind;
    std::memcpy(&kind, from, sizeof kind);
    data.strides[kind] = sizeof value;
  };
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.numMultiprocessors = 132;
  put(device);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  put(context);
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = now;
  kernel.end = now + 10;
  kernel.correlationId = 17;
  kernel.graphNodeId = 99;
  kernel.queued = now - 20;
  put(kernel);
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.start = now;
  peer.end = now + 10;
  peer.bytes = 4096;
  peer.srcDeviceId = 2;
  peer.dstDeviceId = 3;
  put(peer);
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.start = now;
  set.end = now + 10;
  set.value = 255;
  put(set);
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.start = now;
  wait.end = now + 10;
  wait.cudaEventSyncId = 5;
  put(wait);
  CUpti_ActivityCudaEvent2 event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.eventId = 6;
  event.cudaEventSyncId = 5;
  put(event);
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.start = now;
  overhead.end = now + 10;
  put(overhead);
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.start = now;
  graph.end = now + 10;
  graph.graphId = 8;
  put(graph);
  CUpti_ActivityMemory4 memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  memory.bytes = 123;
  memory.timestamp = now;
  memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
  memory.memoryPoolConfig.pool.processId = 77;
  put(memory);
  CUpti_ActivityMemoryPool3 pool{};
  pool.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  pool.timestamp = now;
  put(pool);
  CUpti_ActivityEnvironment environment{};
  environment.kind = CUPTI_ACTIVITY_KIND_ENVIRONMENT;
  environment.timestamp = now;
  environment.environmentKind = CUPTI_ACTIVITY_ENVIRONMENT_TEMPERATURE;
  environment.data.temperature.gpuTemperature = 71;
  put(environment);
  {
    record::TraceSink sink(file, false);
    record::TimeAxis axis(origin);
    axis.add_anchor(record::read_clocks());
    record::DomainNumbers domains;
    record::GpuNumbers gpus;
    record::ProcessTable processes(axis);
    record::CounterTable counters(sink);
    record::Definitions definitions(record::global_pid(1), domains, sink);
    record::Scope scope{record::ScopeOptions{}};
    record::ActivityDecoder decoder(1, definitions, gpus, processes, counters, axis, sink, scope);
    decoder.read(data);
    decoder.finish();
    CHECK(decoder.events() == 5);
    CHECK(sink.counted_losses().empty());
    sink.finish();
  }
  auto number = [&](const std::string& sql) { return test::number(file, sql); };
  CHECK(number("SELECT smCount FROM TARGET_INFO_GPU") == 132);
  CHECK(number("SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId = 99") ==
        17);
  CHECK(number("SELECT submitted IS NULL AND queued > 0 FROM HEADWAY_KERNEL_LATENCY") == 1);
  CHECK(number("SELECT bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE srcDeviceId = 2 AND dstDeviceId "
               "= 3") == 4096);
  CHECK(number("SELECT value FROM CUPTI_ACTIVITY_KIND_MEMSET") == 255);
  CHECK(number("SELECT e.eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN "
               "CUPTI_ACTIVITY_KIND_CUDA_EVENT e USING (eventSyncId)") == 6);
  CHECK(number("SELECT overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD") == 8);
  CHECK(number("SELECT graphId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE") == 8);
  CHECK(number("SELECT importedMemoryPoolProcessId FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memKind "
               "= 1") == 77);
  CHECK(number("SELECT count(*) FROM CUDA_GPU_MEMORY_POOL_EVENTS WHERE operationType = 1") == 1);
  CHECK(number("SELECT value FROM HEADWAY_COUNTER") == 71);
}

}  // namespace headway::inject
