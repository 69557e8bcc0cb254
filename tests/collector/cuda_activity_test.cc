// SPDX-License-Identifier: MIT
// CUDA as far as it can be recorded without a GPU: tests/targets/cuda_training runs on a pretended
// CUPTI that fills real buffers with the real structures.
#include <doctest/doctest.h>

#include <filesystem>

#include "analyzer/analysis.h"
#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

Recorded record_cuda(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& options = {},
                     const std::vector<std::string>& environment = {}) {
  Recorded run;
  run.trace = folder.path() / "run.sqlite";
  std::vector<std::string> command = {"--quiet", "-o", run.trace.string()};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", target("cuda_training")});
  command.insert(command.end(), arguments.begin(), arguments.end());
  Recorder recorder(command);
  recorder.with("LD_LIBRARY_PATH=" +
                (std::filesystem::path(target("cuda_training")).parent_path() / "cupti").string());
  for (const std::string& variable : environment) recorder.with(variable);
  recorder.start();
  run.finished = recorder.wait();
  return run;
}

constexpr const char* kKernels = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCalls = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME";

}  // namespace

TEST_CASE("CUDA: kernels, copies, calls and waits are in the tables of Nsight Systems") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"20"});
  REQUIRE(run.finished.status == 0);
  CHECK(meta(run.trace, "cuda").starts_with("on: CUPTI"));
  CHECK(number(run.trace, kKernels) == 60);
  // A copy, three launches and a wait a step; questions after each call are left out.
  CHECK(number(run.trace, kCalls) == 100);
  CHECK(number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY") == 20);
  CHECK(number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION") == 20);
  CHECK(query(run.trace,
              "SELECT d.value, s.value, m.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
              "StringIds d ON d.id = k.demangledName JOIN StringIds s ON s.id = k.shortName JOIN "
              "StringIds m ON m.id = k.mangledName GROUP BY 1 ORDER BY 2") ==
        Rows{{"void gemm_kernel<128>(float const*, float const*, float*)", "gemm_kernel",
              "_Z11gemm_kernelILi128EEvPKfS1_Pf", "20"},
             {"nn::norm(float*, int)", "norm", "_ZN2nn4normEPfi", "20"},
             {"plain_kernel", "plain_kernel", "plain_kernel", "20"}});
  CHECK(query(run.trace,
              "SELECT DISTINCT s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id "
              "= r.nameId ORDER BY 1") == Rows{{"cudaLaunchKernel_v7000"},
                                               {"cudaMemcpyAsync_v3020"},
                                               {"cudaStreamSynchronize_v3020"}});
  CHECK(query(run.trace,
              "SELECT name, memoryBandwidth, smCount, computeMajor FROM TARGET_INFO_GPU") ==
        Rows{{"Pretended GPU", "4800000000000", "132", "9"}});
  // Each kernel lies in its step's range, on the same clock.
  CHECK(number(run.trace,
               "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN NVTX_EVENTS n ON k.start "
               "BETWEEN n.start AND n.end AND k.\"end\" <= n.\"end\" WHERE n.eventType = 59") ==
        60);
  CHECK(loss(run.trace, "cupti_dropped") == 0);
}

TEST_CASE("CUDA: the analyzer finds the steps of such a recording and the device's time") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"20"});
  trace::Trace trace = trace::load(run.trace);
  analyzer::Analysis analysis = analyzer::analyze(trace);
  CHECK(analysis.steps.all.size() == 20);
  REQUIRE(analysis.partitions.size() == 1);
  const analyzer::DevicePartition& partition = analysis.partitions.front();
  CHECK(partition.steady_steps > 10);
  // 0.9 ms of kernels and 50 us of copies in each.
  CHECK(partition.per_steady_step[analyzer::TimeClass::kComputeOther].ns ==
        doctest::Approx(900'000).epsilon(0.01));
  CHECK(partition.per_steady_step[analyzer::TimeClass::kH2d].ns ==
        doctest::Approx(50'000).epsilon(0.01));
}

TEST_CASE("CUDA: what CUPTI has written survives SIGKILL and _exit") {
  for (const char* how : {"kill", "exit"}) {
    CAPTURE(how);
    TemporaryFolder folder;
    Recorded run = record_cuda(folder, {"10", how});
    CHECK(run.finished.status == (how[0] == 'k' ? 137 : 0));
    CHECK(intact(run.trace));
    // Nothing was flushed in so short a run: all of it is read from the buffer CUPTI still held.
    CHECK(number(run.trace, kKernels) + loss(run.trace, "cupti_dropped") == 30);
    CHECK(number(run.trace, kCalls) > 0);
  }
}

TEST_CASE("CUDA: a kernel that never ended is counted and not invented") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"10", "unfinished"});
  CHECK(number(run.trace, kKernels) == 29);
  CHECK(loss(run.trace, "cupti_dropped") == 1);
}

TEST_CASE("CUDA: an address that comes to hold another name gives both names") {
  TemporaryFolder folder;
  // Over a second each, so that a flush lies between.
  Recorded run = record_cuda(folder, {"2600", "rename"});
  std::int64_t before = number(run.trace, std::string(kKernels) +
                                              " k JOIN StringIds s ON s.id = k.shortName WHERE "
                                              "s.value = 'gemm_kernel'");
  std::int64_t after = number(run.trace, std::string(kKernels) +
                                             " k JOIN StringIds s ON s.id = k.shortName WHERE "
                                             "s.value = 'other_kernel'");
  CHECK(before + after == 2600);
  CHECK(before > 0);
  CHECK(after >= 1300);
}

TEST_CASE("CUDA: buffers go round while the recorder keeps up, and every record arrives") {
  TemporaryFolder folder;
  // 200 steps of 2000 kernels: 100 MB of records through 48 slots of 1 MiB.
  Recorded run = record_cuda(folder, {"200", "2000"});
  REQUIRE(run.finished.status == 0);
  // A launch and a kernel each; a copy with its call and a wait with its call a step.
  const std::int64_t rows =
      number(run.trace, kKernels) + number(run.trace, kCalls) +
      number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY") +
      number(run.trace, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
  const std::int64_t lost = loss(run.trace, "cupti_dropped") + loss(run.trace, "time_out_of_range");
  CHECK(rows + lost == 200 * (2000 * 2 + 4));
  CHECK(rows > 200 * 2000);
}

TEST_CASE("CUDA: with another profiler in the process, the trace says so and has the rest") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"5"}, {}, {"FAKE_CUPTI_BUSY=1"});
  CHECK(run.finished.status == 0);
  CHECK(meta(run.trace, "cuda").find("another profiler") != std::string::npos);
  CHECK(number(run.trace, kKernels) == 0);
  CHECK(ranges(run.trace, "step 4") == 1);
}

TEST_CASE("CUDA: --cuda off leaves the program alone") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"5"}, {"--cuda", "off"});
  CHECK(run.finished.status == 0);
  CHECK(number(run.trace, kKernels) == 0);
  CHECK(ranges(run.trace, "step 4") == 1);
}

TEST_CASE("CUDA: of the steps that were chosen, the calls are there and all that they launched") {
  // "late": the kernels of a step run, and are told, while the next one is made.
  for (const char* how : {"", "late"}) {
    CAPTURE(how);
    TemporaryFolder folder;
    Recorded run = record_cuda(folder, {"40", how}, {"--steps", "10:19"});
    REQUIRE(run.finished.status == 0);
    CHECK(ranges(run.trace, "step 10") == 1);
    CHECK(ranges(run.trace, "step 9") + ranges(run.trace, "step 20") == 0);
    CHECK(number(run.trace, kCalls) == 50);
    CHECK(number(run.trace, kKernels) == 30);
    CHECK(number(run.trace,
                 "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                 "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)") == 30);
    // What describes devices was told before the first of these steps.
    CHECK(number(run.trace, "SELECT count(*) FROM TARGET_INFO_GPU") == 1);
    CHECK(loss(run.trace, "cupti_dropped") == 0);
  }
}

TEST_CASE("CUDA: a step after steps that were not recorded begins with itself, not with the gap") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"40"}, {"--sample-steps", "3:10"});
  trace::Trace trace = trace::load(run.trace);
  analyzer::Analysis analysis = analyzer::analyze(trace);
  REQUIRE(analysis.partitions.size() == 1);
  int after_gap = 0;
  for (const analyzer::DeviceStep& step : analysis.partitions.front().steps) {
    const analyzer::Step& host = analysis.steps.all[step.step];
    if (host.number % 10 != 0 || host.number == 0) continue;
    CHECK(step.interval.begin == host.host.begin);
    CHECK_FALSE(host.steady);
    ++after_gap;
  }
  CHECK(after_gap == 3);
}

TEST_CASE("CUDA: --capture-range cuda-profiler records between cudaProfilerStart and Stop") {
  TemporaryFolder folder;
  Recorded run = record_cuda(folder, {"10", "profiler"}, {"--capture-range", "cuda-profiler"});
  REQUIRE(run.finished.status == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59") == 3);
  CHECK(ranges(run.trace, "step 2") == 1);
  CHECK(ranges(run.trace, "step 4") == 1);
  CHECK(number(run.trace, kKernels) == 9);
  CHECK(meta(run.trace, "scope.windows") == "1");
}

TEST_CASE("CUDA: when the recording is over, CUPTI is given back to the program") {
  TemporaryFolder folder;
  // 4 s: the end, the time that is left for what CUPTI tells late, and its thread's next look.
  Recorded run = record_cuda(folder, {"4300", "collected"}, {"--duration", "0.5"});
  CHECK(run.finished.status == 0);
  CHECK(number(run.trace, kKernels) > 500);
  CHECK(number(run.trace,
               "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start >= 500000000") == 0);
  CHECK(loss(run.trace, "cupti_dropped") == 0);
}

}  // namespace headway::test
