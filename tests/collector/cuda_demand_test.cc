// SPDX-License-Identifier: MIT
// What is recorded of CUDA on demand, and the names that programs give: tests/targets/cuda_memory and
// cuda_training on a pretended CUPTI.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

Recorded record_cuda(const TemporaryFolder& folder, const std::vector<std::string>& command,
                     const std::vector<std::string>& options) {
  Recorded run;
  run.trace = folder.path() / "run.sqlite";
  std::vector<std::string> arguments = {"--quiet", "-o", run.trace.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  Recorder recorder(arguments);
  recorder.with("LD_LIBRARY_PATH=" +
                (std::filesystem::path(target("cuda_training")).parent_path() / "cupti").string());
  recorder.start();
  run.finished = recorder.wait();
  return run;
}

}  // namespace

TEST_CASE("CUDA memory: allocations, releases and pools are in the tables of Nsight Systems") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_memory")}, {"--cuda-memory"});
  REQUIRE(run.finished.status == 0);
  CHECK(query(run.trace,
              "SELECT address, bytes, k.label, o.label, m.name, correlationId, streamId, "
              "localMemoryPoolAddress, localMemoryPoolSize, localMemoryPoolUtilizedSize, "
              "importedMemoryPoolAddress FROM CUDA_GPU_MEMORY_USAGE_EVENTS m JOIN "
              "ENUM_CUDA_MEM_KIND k ON k.id = m.memKind JOIN ENUM_CUDA_DEV_MEM_EVENT_OPER o ON "
              "o.id = m.memoryOperationType ORDER BY start") ==
        Rows{{"4096", "1048576", "Device", "Allocation", "weights", "1", "7", "28672", "67108864",
              "1048576", "NULL"},
             {"8192", "3145728", "Device", "Allocation", "weights", "2", "7", "28672", "67108864",
              "3145728", "NULL"},
             {"4096", "1048576", "Device", "Deallocation", "NULL", "4", "7", "28672", "67108864",
              "1048576", "NULL"}});
  CHECK(query(run.trace,
              "SELECT address, operationType, poolType, minBytesToKeep, localMemoryPoolSize, "
              "localMemoryPoolUtilizedSize FROM CUDA_GPU_MEMORY_POOL_EVENTS") ==
        Rows{{"28672", "3", "1", "1048576", "67108864", "3145728"}});
  // The memory page and rules read a counter of it.
  trace::Trace trace = trace::load(run.trace);
  bool found = false;
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != "cuda.allocated") continue;
    found = true;
    CHECK(series.value == std::vector<double>{1 << 20, 4 << 20, 3 << 20});
    CHECK(series.unit == "bytes");
    CHECK(series.device == 0);
  }
  CHECK(found);
}

TEST_CASE("CUDA memory is recorded only on demand") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_memory")}, {});
  CHECK(number(run.trace, "SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS") == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_KERNEL_LATENCY") == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL") == 1);
}

TEST_CASE("CUDA latency: each kernel has the time it was queued and submitted") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_training"), "5"}, {"--cuda-latency"});
  CHECK(number(run.trace,
               "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN HEADWAY_KERNEL_LATENCY l ON "
               "l.kernelRow = k.rowid WHERE abs(k.start - l.queued - 3000) < 10 AND abs(k.start - "
               "l.submitted - 1000) < 10") == 15);
}

TEST_CASE(
    "CUDA: where the recorder asks for it, the program's hook pauses it, and no range or later "
    "call is lost") {
  TemporaryFolder folder;
  const std::string calls =
      "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = "
      "r.nameId GROUP BY 1 ORDER BY 1";
  Recorded run = record_cuda(folder, {target("cuda_training"), "5", "pauses"}, {"--measure-cost"});
  CHECK(run.finished.out == "1 0\n1 0\n");
  CHECK(number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL") == 9);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59") == 5);
  // What is left out of the calls (cudaGetLastError) is so after the pause, too.
  CHECK(query(run.trace, calls) == Rows{{"cudaLaunchKernel_v7000", "9"},
                                        {"cudaMemcpyAsync_v3020", "3"},
                                        {"cudaStreamSynchronize_v3020", "3"}});
  run = record_cuda(folder, {target("cuda_training"), "5", "pauses"}, {"--force"});
  CHECK(run.finished.out == "0 0\n0 0\n");
  CHECK(number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL") == 15);
}

TEST_CASE("CUDA: the trace tells what handing over the records cost the program") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_training"), "5"}, {});
  const std::string cost = meta(run.trace, "cuda_overhead_ns");
  REQUIRE(!cost.empty());
  CHECK(std::stoll(cost) > 1'000);
  CHECK(std::stoll(cost) < 1'000'000'000);
  CHECK(std::stoll(meta(run.trace, "overhead_ns")) > 0);
}

TEST_CASE("CUDA: streams and devices bear the names that the program gives them through NVTX") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_memory")}, {});
  CHECK(query(run.trace, "SELECT streamId, deviceId, name, deviceType FROM HEADWAY_STREAM") ==
        Rows{{"7", "0", "copies ä", "1"}});
  CHECK(query(run.trace,
              "SELECT t.name, e.text, e.uint64Value FROM NVTX_EVENTS e JOIN ENUM_NSYS_EVENT_TYPE t "
              "ON t.id = e.eventType WHERE e.eventType IN (97, 99) ORDER BY 1") ==
        Rows{{"NvtxNameCudaDevice", "the encoder's device", "0"},
             {"NvtxNameCudaStream", "copies ä", "7"}});
  trace::Trace trace = trace::load(run.trace);
  REQUIRE(trace.streams.size() == 1);
  CHECK(trace.streams[0].name == "copies ä");
}

TEST_CASE("CUDA: where the recorder cannot ask the GPU, the program's CUPTI tells its clocks") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {target("cuda_memory")}, {});
  if (meta(run.trace, "gpu_counters") == "on") {
    MESSAGE("[skipped] this machine has a GPU: the recorder asks it itself");
    return;
  }
  CHECK(
      query(run.trace,
            "SELECT s.name, s.unit, s.deviceId, v.value FROM HEADWAY_COUNTER v JOIN "
            "HEADWAY_COUNTER_SERIES s ON s.id = v.seriesId WHERE s.name LIKE 'gpu.%' ORDER BY 1") ==
      Rows{{"gpu.memory_clock", "Hz", "0", "2619000000.0"},
           {"gpu.power", "W", "0", "651.5"},
           {"gpu.sm_clock", "Hz", "0", "1410000000.0"},
           {"gpu.throttle_reasons", "bits", "0", "4.0"}});
}

}  // namespace headway::test
