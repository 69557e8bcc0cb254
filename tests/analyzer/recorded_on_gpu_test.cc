// SPDX-License-Identifier: MIT
// What `headway record` made of tests/gpu/cuda_program.cu on a real GPU (tests/data/h100, README there), against the program's known numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "analyzer/report/report.h"
#include "analyzer/whatif/predict_findings.h"
#include "trace/load/load.h"

namespace headway::analyzer {
namespace {

using trace::DeviceOpKind;

struct Recorded {
  explicit Recorded(const std::string& name)
      : trace(trace::load(HEADWAY_SOURCE_DIR "/tests/data/h100/" + name + ".sqlite")),
        analysis(analyze(trace)) {
    predict_findings(trace, analysis, {});
  }
  std::int64_t ops(DeviceOpKind kind) const {
    return std::ranges::count(trace.device_ops.kind, kind);
  }
  trace::Trace trace;
  Analysis analysis;
};

}  // namespace

TEST_CASE(
    "20 steps on an H100: each op is there, with its call, and every nanosecond has a class") {
  for (const char* name : {"cuda_steps", "cuda_demand"}) {
    CAPTURE(name);
    const Recorded run(name);
    CHECK(run.ops(DeviceOpKind::kKernel) == 4 * 20);
    CHECK(run.ops(DeviceOpKind::kCopyHostToDevice) == 20);
    CHECK(run.ops(DeviceOpKind::kCopyDeviceToHost) == 20);
    CHECK(run.ops(DeviceOpKind::kMemset) == 20);
    const trace::DeviceOps& ops = run.trace.device_ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      REQUIRE(ops.call[i].valid());
      CHECK(ops.start[i] >= run.trace.calls.start[ops.call[i].value]);
    }
    CHECK(run.analysis.steps.all.size() == 20);
    REQUIRE(run.analysis.partitions.size() == 1);
    const DevicePartition& device = run.analysis.partitions.front();
    CHECK(device.per_steady_step[TimeClass::kUnknown].ns == 0);
    for (const AuditResult& result : run.analysis.audit)
      CHECK(audit_check(result.check).severity == trace::Severity::kInfo);
    // Each step ends with two waits for the device.
    CHECK(run.analysis.findings.front().rule == "host-sync");
  }
}

TEST_CASE("20 launches of a CUDA graph on an H100: its three kernels each time") {
  const Recorded run("cuda_graph_nodes");
  CHECK(run.ops(DeviceOpKind::kKernel) == 3 * 20);
  CHECK(run.analysis.steps.all.size() == 20);
}

TEST_CASE("a program killed on an H100 before its device records were handed over is not judged") {
  const Recorded run("cuda_killed");
  CHECK(run.trace.device_ops.size() == 0);
  CHECK(run.analysis.steps.all.size() == 20);  // ranges survive
  CHECK(verdict(run.trace, run.analysis).starts_with("Cannot tell: CUDA was recorded"));
}

}  // namespace headway::analyzer
