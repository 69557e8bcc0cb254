// SPDX-License-Identifier: MIT
// The translator on both devices: the same graph, parameters and batches, under each of its switches.
#include <doctest/doctest.h>

#include "tests/reference_trainer/cuda/both_devices.h"

namespace headway::trainer {
namespace {

using test::check_same_on_both;

Settings tiny_translation() {
  Settings settings;
  settings.model = ModelKind::kGnmt;
  settings.data = DataKind::kGenerated;
  settings.layers = 2;
  settings.features = 16;
  settings.sequence = 12;
  settings.batch = 4;
  settings.optimizer = OptimizerChoice::kSgd;
  settings.steps = 3;
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

}  // namespace

TEST_CASE("the translator trains as on the host, in persistent layers and step by step") {
  for (bool persistent : {true, false}) {
    CAPTURE(persistent);
    Settings settings = tiny_translation();
    settings.persistent_rnn = persistent;
    check_same_on_both(settings);
    settings.fused_loss = settings.fused_bias_act = false;
    settings.graph_compiler = GraphCompiler::kOff;
    check_same_on_both(settings);
  }
}

TEST_CASE("each precision of the translator trains as on the host, which rounds the same") {
  for (Precision precision :
       {Precision::kTf32, Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    CAPTURE(static_cast<int>(precision));
    for (bool persistent : {true, false}) {
      CAPTURE(persistent);
      Settings settings = tiny_translation();
      settings.precision = precision;
      settings.persistent_rnn = persistent;
      check_same_on_both(settings, precision == Precision::kBf16 ? 2e-2 : 3e-3, 0.2);
    }
  }
}

TEST_CASE("the translator is evaluated on the GPU as on the host") {
  Settings settings = tiny_translation();
  settings.eval = true;
  settings.eval_samples = 10;
  const test::Trained gpu = test::train_on_gpu(settings);
  const test::Trained host = test::train_on_host(settings);
  REQUIRE(gpu.result.evaluation.has_value());
  CHECK(gpu.result.evaluation->loss == doctest::Approx(host.result.evaluation->loss).epsilon(5e-3));
}

}  // namespace headway::trainer
