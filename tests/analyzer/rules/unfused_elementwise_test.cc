// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::TraceBuilder;
using trace::Phase;

/// conv -> batch norm -> relu -> conv, with `elementwise` ns in each of the middle two, 20 steps of
/// 1 ms.
void chain(TraceBuilder& builder, std::int64_t elementwise, bool graph = true, bool linked = true) {
  if (graph) {
    builder.graph_op(1, "conv2d", "conv1", Phase::kForward, {}, 100, 1000);
    builder.graph_op(2, "batch_norm", "bn1", Phase::kForward, {1}, 4000, 1000);
    if (linked) {
      builder.graph_op(3, "relu", "relu1", Phase::kForward, {2}, 2000, 1000);
    } else {
      builder.graph_op(3, "relu", "relu1", Phase::kForward, {1}, 2000, 1000);
    }
    builder.graph_op(4, "conv2d", "conv2", Phase::kForward, {3}, 100, 1000);
  }
  for (int s = 0; s < 20; ++s) {
    std::int64_t t = 1'000'000 + s * 1'000'000;
    builder.range(1, "step", t, t + 999'999, {.kind = trace::RangeKind::kStep, .step = s});
    std::int64_t now = t;
    std::int64_t rest = (1'000'000 - 2 * elementwise) / 2;
    for (int op = 1; op <= 4; ++op) {
      std::int64_t duration = op == 2 || op == 3 ? elementwise : rest;
      builder.launch(1, t - 100 + op, t - 99 + op + 1, now, now + duration,
                     {.name = "k", .phase = Phase::kForward, .op = op});
      now += duration;
    }
  }
}

}  // namespace

TEST_CASE("unfused-elementwise fires on a chain of batch norm and relu and estimates by traffic") {
  TraceBuilder builder;
  chain(builder, 150'000);
  AnalyzedRun run(builder);
  const Finding& finding = run.finding("unfused-elementwise");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "batch_norm → relu");
  // 300 µs for 6000 bytes; fusing saves one write and one read of 1000 bytes.
  CHECK(finding.recoverable_per_step.ns == 100'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].event.kind == EventRef::Kind::kDeviceOp);
}

TEST_CASE("unfused-elementwise is fine when the chain is cheap or the ops are not linked") {
  TraceBuilder cheap;
  chain(cheap, 60'000);
  CHECK(AnalyzedRun(cheap).finding("unfused-elementwise").status == Status::kFine);
  TraceBuilder unlinked;
  chain(unlinked, 150'000, true, false);
  CHECK(AnalyzedRun(unlinked).finding("unfused-elementwise").status == Status::kFine);
}

TEST_CASE("unfused-elementwise fires from five percent on") {
  TraceBuilder below;
  chain(below, 74'000);
  CHECK(AnalyzedRun(below).finding("unfused-elementwise").status == Status::kFine);
  TraceBuilder above;
  chain(above, 76'000);
  CHECK(AnalyzedRun(above).finding("unfused-elementwise").status == Status::kFound);
}

TEST_CASE("unfused-elementwise cannot tell without an op graph") {
  TraceBuilder builder;
  chain(builder, 150'000, false);
  CHECK(AnalyzedRun(builder).finding("unfused-elementwise").status == Status::kCannotTell);
}

namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kConvolution = "cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1";
constexpr const char* kNorm = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128>(x)";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";
constexpr const char* kRelu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar(x)>(int)";

Finding by_stream(const KernelRun& run) {
  return AnalyzedKernels(run).finding("unfused-elementwise");
}

}  // namespace

TEST_CASE("unfused-elementwise goes by the order on the stream where there is no op graph") {
  Finding finding = by_stream(KernelRun{}
                                  .add({.name = kConvolution})
                                  .add({.name = kNorm, .ns = 80'000})
                                  .add({.name = kAdd, .ns = 40'000})
                                  .add({.name = kRelu, .ns = 30'000})
                                  .add({.name = kConvolution}));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 70'000);  // all but the longest of the chain
  CHECK(finding.sub_cause == "normalisation → elementwise → activation");
  CHECK(finding.confidence < 0.7);
}

TEST_CASE(
    "unfused-elementwise ends a chain at matrix work, another stream, the update, a second norm") {
  using trace::Phase;
  CHECK(by_stream(KernelRun{}.add({.name = kNorm}).add({.name = kConvolution}).add({.name = kRelu}))
            .recoverable_per_step.ns == 0);
  CHECK(by_stream(KernelRun{}.add({.name = kNorm}).add({.name = kRelu, .stream = 2})).status ==
        Status::kFine);
  CHECK(by_stream(KernelRun{}.add({.name = kAdd, .phase = Phase::kUpdate}, 6)).status ==
        Status::kFine);
  CHECK(by_stream(KernelRun{}.add({.name = kNorm}, 5)).status == Status::kFine);
  CHECK(by_stream(KernelRun{}
                      .add({.name = kAdd, .phase = Phase::kForward})
                      .add({.name = kAdd, .phase = Phase::kBackward}))
            .status == Status::kFine);
}

}  // namespace headway::analyzer
