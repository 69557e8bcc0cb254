// SPDX-License-Identifier: MIT
// Inference on both devices: the same parameters, scales and batches, in every number format.
#include <doctest/doctest.h>

#include "reference_trainer/devices/cuda/open.h"
#include "tests/reference_trainer/served.h"

namespace headway::trainer {
namespace {

/// Sums in another order may put a value on the other side of a half: then an integer differs by one.
void check_inferred_alike(Settings settings) {
  settings.eval_samples = 16;
  settings.calibration_samples = 16;
  const test::Served served(settings);
  for (const InferPrecision precision :
       {InferPrecision::kFp32, InferPrecision::kTf32, InferPrecision::kFp16, InferPrecision::kBf16,
        InferPrecision::kInt8}) {
    CAPTURE(static_cast<int>(precision));
    settings.infer_precision = precision;
    const RunResult host = served.run(settings);
    const auto device = open_cuda_device({});
    const RunResult gpu = served.run(*device, settings);
    REQUIRE(gpu.steps.size() == host.steps.size());
    const double tolerance = precision == InferPrecision::kFp32 ? 1e-4 : 5e-3;
    for (std::size_t i = 0; i < host.steps.size(); ++i)
      CHECK(*gpu.steps[i].loss == doctest::Approx(*host.steps[i].loss).epsilon(tolerance));
    CHECK(gpu.evaluation->loss == doctest::Approx(host.evaluation->loss).epsilon(tolerance));
    CHECK(gpu.plain_evaluation->loss == doctest::Approx(host.plain_evaluation->loss).epsilon(1e-4));
  }
}

}  // namespace

TEST_CASE("a residual network infers on the GPU as on the host") {
  check_inferred_alike(test::tiny_inference());
}

TEST_CASE("a residual network whose norms, sums and activations are apart, too") {
  Settings settings = test::tiny_inference();
  settings.fold_bn = settings.fused_epilogue = false;
  check_inferred_alike(settings);
}

TEST_CASE("a transformer infers on the GPU as on the host") {
  check_inferred_alike(test::tiny_inference(ModelKind::kTransformer));
}

}  // namespace headway::trainer
