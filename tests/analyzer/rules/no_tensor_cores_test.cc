// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/evidence/kernel_work.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/text_run.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kSgemm = "ampere_sgemm_128x64_nn";
constexpr const char* kTensorGemm = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";

Status status(KernelRun run) {
  return AnalyzedKernels(run).finding("no-tensor-cores").status;
}

}  // namespace

TEST_CASE("no-tensor-cores fires on FP32 GEMMs of an A100 and estimates by the peaks") {
  AnalyzedKernels run(KernelRun{}.add({.name = kSgemm, .ns = 105'000}, 8).add({.name = kAdd}));
  const Finding& finding = run.finding("no-tensor-cores");
  CHECK(finding.status == Status::kFound);
  // TF32 has 8 times the FP32 peak, so s = 1 + 0.3 x 7 = 3.1; 5 us of each kernel are fixed.
  CHECK(finding.recoverable_per_step.ns == static_cast<std::int64_t>(800'000 * (1 - 1 / 3.1)));
  CHECK(finding.evidence.size() == 12);
  CHECK(finding.advice.front().knob.find("set_float32_matmul_precision") != std::string::npos);
}

TEST_CASE("no-tensor-cores goes by flops where kernels tell theirs") {
  // 7.8 TFLOP at half of 156 TFLOP/s take 100 ms of the 800 ms.
  AnalyzedKernels run(
      KernelRun{}.add({.name = kSgemm, .ns = 800'000'000, .flops = 7'800'000'000'000}));
  CHECK(run.finding("no-tensor-cores").recoverable_per_step.ns == 700'000'000);
}

TEST_CASE("no-tensor-cores advises half precision on a V100, which has no TF32") {
  KernelRun run;
  run.device = "Tesla V100-SXM2-32GB";
  AnalyzedKernels analyzed(run.add({.name = "volta_sgemm_128x64_nn"}, 5));
  const Finding& finding = analyzed.finding("no-tensor-cores");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.advice.front().knob.find("float16") != std::string::npos);
  CHECK(finding.advice.front().knob.find("tf32") == std::string::npos);
}

TEST_CASE(
    "no-tensor-cores is fine with tensor-core kernels, vector products, and without tensor cores") {
  CHECK(status(KernelRun{}.add({.name = kTensorGemm}, 5)) == Status::kFine);
  CHECK(status(KernelRun{}
                   .add({.name = kTensorGemm}, 5)
                   .add({.name = "void gemv2T_kernel_val<int, int, float, float>(int)"})) ==
        Status::kFine);
  AnalyzedKernels processor([] {
    KernelRun run;
    run.type = trace::DeviceType::kHost;
    return run.add({.name = kSgemm}, 5);
  }());
  CHECK(processor.finding("no-tensor-cores").status == Status::kFine);
}

TEST_CASE("no-tensor-cores fires from five percent of the step on") {
  // 74 us of the 1000 save 5 %: (x - 5) x 0.677 = 50.
  auto run = [](std::int64_t slow) {
    return KernelRun{}
        .add({.name = kSgemm, .ns = slow})
        .add({.name = kTensorGemm, .ns = 1'000'000 - slow});
  };
  CHECK(status(run(78'000)) == Status::kFine);
  CHECK(status(run(80'000)) == Status::kFound);
}

TEST_CASE(
    "no-tensor-cores cannot tell without matrix kernels, or on a device it knows nothing of") {
  CHECK(status(KernelRun{}.add({.name = kAdd}, 5)) == Status::kCannotTell);
  KernelRun unknown;
  unknown.device = "";
  CHECK(status(unknown.add({.name = "volta_sgemm_128x64_nn"}, 5)) == Status::kCannotTell);
}

TEST_CASE("no-tensor-cores takes the generation from kernel names where the device has no name") {
  KernelRun unknown;
  unknown.device = "";
  AnalyzedKernels run(unknown.add({.name = kSgemm, .ns = 105'000}, 8));
  CHECK(run.finding("no-tensor-cores").status == Status::kFound);
  CHECK(run.finding("no-tensor-cores").recoverable_per_step.ns == 400'000);  // s = 2
}

TEST_CASE("rules over device kernels cannot tell in a run without a device, and do not fail") {
  test::TraceBuilder builder;
  for (int i = 0; i < 8; ++i) {
    std::int64_t t = i * 1'000'000;
    builder.range(1, "step", t, t + 999'999, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, "aten::addmm", t + 10, t + 900'000);
  }
  trace::Trace trace = builder.load();
  Analysis analysis = analyze(trace);
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == "no-tensor-cores" || finding.rule == "low-occupancy" ||
        finding.rule == "unfused-elementwise" || finding.rule == "host-round-trip")
      CHECK(finding.status == Status::kCannotTell);
  }
}

TEST_CASE(
    "no-tensor-cores cannot tell where kernels on general cores do not say their number type") {
  const test::TextRun run(
      "thread main\n  steps 20\n    repeat 20\n      host 4us\n"
      "      launch \"conv2d layer1\" 500us math=general blocks=864\n");
  const Finding& finding = run.finding("no-tensor-cores");
  CHECK(finding.status == Status::kCannotTell);
  CHECK(finding.claim.find("do not say in which number type") != std::string::npos);
}

TEST_CASE(
    "products that wait for memory on tensor cores, too, cost what is gained at most, not all of "
    "their time") {
  test::TextRun run(
      "thread main\n  steps 20\n    repeat 20\n      host 4us\n"
      "      launch ampere_sgemm_128x64_nn 20us math=general blocks=40 bytes=4MB flops=30M\n"
      "    sync stream\n");
  predict_findings(run.trace, run.analysis);
  const Finding& finding = run.finding("no-tensor-cores");
  REQUIRE(finding.status == Status::kFound);
  double most = 0;
  for (const PredictedGain& gain : finding.fixes) most = std::max(most, gain.high);
  CHECK(finding.share_of_step == doctest::Approx(most).epsilon(0.001));
  CHECK(finding.share_of_step < 0.6);
}

TEST_CASE("a share of tensor cores is told of known products only") {
  auto work = [](const char* name) {
    const AnalyzedKernels run(KernelRun{}.add({.name = name, .ns = 500'000}, 4));
    return describe(run.analysis.work.front());
  };
  CHECK(work("gemm").find("unknown") != std::string::npos);
  CHECK(work("gemm").find('%', work("gemm").find(';')) == std::string::npos);
  CHECK(work(kTensorGemm).find("100.0 %", work(kTensorGemm).find(';')) != std::string::npos);
}

}  // namespace headway::analyzer
