// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "common/error.h"
#include "reference_trainer/data/text.h"
#include "tests/reference_trainer/recorded_curve.h"
#include "tests/reference_trainer/tiny_training.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::train;

/// A run that takes a fraction of a second: two blocks of 32 features on generated sentences.
Settings tiny_text() {
  Settings settings;
  settings.model = ModelKind::kTransformer;
  settings.data = DataKind::kGenerated;
  settings.layers = 2;
  settings.heads = 2;
  settings.features = 32;
  settings.sequence = 32;
  settings.batch = 8;
  settings.steps = 20;
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

std::vector<float> losses(const RunResult& result) {
  std::vector<float> all;
  for (const StepRecord& step : result.steps) all.push_back(step.loss.value_or(-1));
  return all;
}

void check_close(const RunResult& a, const RunResult& b, double tolerance) {
  REQUIRE(a.steps.size() == b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(*a.steps[i].loss - *b.steps[i].loss) < tolerance);
  }
}

}  // namespace

TEST_CASE("blocks whose activations are made again train to the same losses, to the bit") {
  for (const Precision precision : {Precision::kFp32, Precision::kAmpO1, Precision::kBf16}) {
    Settings settings = tiny_text();
    settings.precision = precision;
    settings.dropout = 0.1;
    const std::vector<float> kept = losses(train(settings));
    settings.recompute = true;
    CHECK(losses(train(settings)) == kept);
  }
}

TEST_CASE("every fusion of the transformer trains to the same losses as its parts") {
  const RunResult fused = train(tiny_text());
  for (bool Settings::*one : {&Settings::fused_ln, &Settings::fused_attention,
                              &Settings::fused_bias_act, &Settings::fused_loss}) {
    Settings settings = tiny_text();
    settings.*one = false;
    check_close(fused, train(settings), 5e-3);
  }
  Settings apart = tiny_text();
  apart.graph_compiler = GraphCompiler::kOff;
  check_close(fused, train(apart), 5e-3);
  Settings none = tiny_text();
  none.fused_ln = none.fused_attention = none.fused_bias_act = none.fused_loss = false;
  check_close(fused, train(none), 5e-3);  // the graph compiler has most to do here
  none.graph_compiler = GraphCompiler::kOff;
  check_close(fused, train(none), 5e-3);
}

TEST_CASE("windows, shifted ones too, train to the same losses fused and in parts") {
  Settings settings = tiny_text();
  settings.window = 8;
  const RunResult fused = train(settings);
  settings.fused_attention = false;
  check_close(fused, train(settings), 5e-3);
  settings.fused_attention = true;
  settings.window = 0;
  CHECK(losses(train(settings)) != losses(fused));
}

TEST_CASE("each optimizer gives the same losses in one kernel, per parameter and in parts") {
  for (OptimizerChoice optimizer : {OptimizerChoice::kSgd, OptimizerChoice::kAdam,
                                    OptimizerChoice::kLamb, OptimizerChoice::kLars}) {
    Settings settings = tiny_text();
    settings.optimizer = optimizer;
    const RunResult together = train(settings);
    CHECK(*together.final_loss() < *together.steps.front().loss);
    for (OptimizerFusion fusion : {OptimizerFusion::kParameter, OptimizerFusion::kOff}) {
      settings.fused_optimizer = fusion;
      check_close(together, train(settings), 5e-3);
    }
  }
}

TEST_CASE("the loss curves of the models on generated data are the recorded ones") {
  Settings text = tiny_text();
  text.steps = 120;
  text.eval = true;
  text.eval_samples = 64;
  Settings images = test::tiny_settings();
  images.samples = 2000;
  images.batch = 16;
  images.steps = 80;  // later ones of other roundings are 40 % apart: its loss is near 0 then
  for (const auto& [settings, name] :
       {std::pair{text, "transformer"}, std::pair{images, "resnet"}}) {
    const RunResult result = train(settings);
    test::check_curve(result, name);
    if (!settings.eval) continue;
    REQUIRE(result.evaluation);
    CHECK(result.evaluation->images == 64);
    CHECK(std::abs(result.evaluation->loss - *result.final_loss()) < 0.5);
  }
}

TEST_CASE("every precision ends within tolerance of FP32, for the transformer and for ResNet") {
  Settings text = tiny_text();
  text.steps = 60;
  Settings images = test::tiny_settings();
  images.steps = 60;
  images.batch = 16;
  images.samples = 1000;
  for (Settings settings : {text, images}) {
    const RunResult plain = train(settings);
    const float fp32 = *plain.final_loss();
    for (Precision precision :
         {Precision::kTf32, Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
      settings.precision = precision;
      const RunResult result = train(settings);
      CAPTURE(static_cast<int>(precision));
      CHECK(std::abs(*result.final_loss() - fp32) < 0.06 * fp32 + 0.03);
      // Rounded operands are no longer the same numbers.
      CHECK(*result.steps[3].loss != *plain.steps[3].loss);
    }
  }
}

TEST_CASE("an overflow skips the step, lowers the loss scale, and training goes on") {
  Settings settings = tiny_text();
  settings.precision = Precision::kAmpO2;
  settings.steps = 40;
  const RunResult result = train(settings);
  // Without the skips the first overflow would have made every parameter NaN.
  for (const StepRecord& step : result.steps) REQUIRE(std::isfinite(*step.loss));
  CHECK(*result.final_loss() < *result.steps.front().loss);
}

TEST_CASE("text comes from gzipped and plain files, and damaged or missing ones are named") {
  test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the quick brown fox " + std::to_string(i) + "\n";
  std::ofstream(folder.path() / "b.txt") << text;
  std::ofstream(folder.path() / "a.txt") << "first\n";
  const TrainAndTestText loaded = load_text(folder.path(), 100);
  CHECK(std::string(loaded.train.tokens.begin(), loaded.train.tokens.begin() + 10) ==
        "first\nthe ");
  CHECK(loaded.train.tokens.size() + loaded.test.tokens.size() == text.size() + 6);
  CHECK_THROWS_WITH_AS(load_text(folder.path(), 1000000), doctest::Contains("at least"), Error);
  CHECK_THROWS_WITH_AS(load_text(folder.path() / "none", 1), doctest::Contains("none"), Error);
  std::ofstream(folder.path() / "c.gz", std::ios::binary)
      << "\x1f\x8b\x08\x00garbage that is no deflate";
  CHECK_THROWS_WITH_AS(load_text(folder.path(), 100), doctest::Contains("c.gz"), Error);
  Settings settings = tiny_text();
  settings.data = DataKind::kText;
  settings.text_dir = (folder.path() / "none").string();
  CHECK_THROWS_WITH_AS(train(settings), doctest::Contains("manpages"), Error);
  settings.data = DataKind::kFashionMnist;
  CHECK_THROWS_WITH_AS(train(settings), doctest::Contains("images"), Error);
}

TEST_CASE("shapes that do not fit are refused with both numbers") {
  Settings settings = tiny_text();
  settings.heads = 3;
  CHECK_THROWS_WITH_AS(train(settings), doctest::Contains("multiple of --heads 3"), Error);
  settings = tiny_text();
  settings.window = 5;
  CHECK_THROWS_WITH_AS(train(settings), doctest::Contains("multiple of --window 5"), Error);
}

}  // namespace headway::trainer
