// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "tests/reference_trainer/tiny_detector.h"
#include "tests/reference_trainer/trained.h"

namespace headway::test {

/// Each model with its evaluation, a few steps, and switches that bring other kernels, scratch memory and formats.
inline std::vector<trainer::Settings> runs_of_each_model(const std::filesystem::path& cache) {
  using namespace trainer;
  std::vector<Settings> runs;
  auto add = [&runs](Settings settings, const std::function<void(Settings&)>& change) {
    settings.batch = 4;
    settings.steps = 3;
    settings.learning_rate = 0.01;
    settings.eval = true;
    settings.eval_samples = 6;
    change(settings);
    runs.push_back(settings);
  };
  add(tiny_settings(), [](Settings&) {});
  add(tiny_settings(), [](Settings& s) {
    s.fused_bn = false;
    s.graph_compiler = GraphCompiler::kOff;
    s.fused_optimizer = OptimizerFusion::kOff;
    s.optimizer = OptimizerChoice::kLars;
    s.precision = Precision::kAmpO2;
  });
  Settings text = tiny_settings();
  text.model = ModelKind::kTransformer;
  text.layers = text.heads = 2;
  text.features = text.sequence = 16;
  add(text, [](Settings&) {});
  add(text, [](Settings& s) {
    s.fused_attention = s.fused_ln = s.fused_bias_act = s.fused_loss = false;
    s.optimizer = OptimizerChoice::kLamb;
    s.fused_optimizer = OptimizerFusion::kParameter;
    s.precision = Precision::kAmpO1;
  });
  add(text, [](Settings& s) { s.precision = Precision::kTf32; });
  text.model = ModelKind::kGnmt;
  add(text, [](Settings&) {});
  add(text, [](Settings& s) { s.persistent_rnn = false; });
  const Settings boxes = tiny_detector(cache);
  add(boxes, [](Settings& s) { s.assign = Assign::kPerSample; });
  add(boxes, [](Settings& s) { s.coords_on_processor = true; });
  add(boxes, [](Settings& s) {
    s.matching = Matching::kSimota;
    s.assign = Assign::kPerSample;
  });
  return runs;
}

/// Trains each of them with both allocators: losses, parameters and evaluation are the same bits, and what the raw
/// one holds afterwards is what outlives a step.
inline void check_raw_allocator(const std::function<Trained(const trainer::Settings&)>& train,
                                const std::filesystem::path& cache) {
  int number = 0;
  for (trainer::Settings settings : runs_of_each_model(cache)) {
    CAPTURE(number++);
    const Trained planned = train(settings);
    settings.raw_allocator = true;
    const Trained raw = train(settings);
    REQUIRE(raw.result.steps.size() == planned.result.steps.size());
    for (std::size_t i = 0; i < raw.result.steps.size(); ++i)
      CHECK(*raw.result.steps[i].loss == *planned.result.steps[i].loss);
    CHECK(raw.parameters == planned.parameters);
    REQUIRE(raw.result.evaluation.has_value());
    CHECK(raw.result.evaluation->loss == planned.result.evaluation->loss);
    CHECK(raw.memory_bytes == raw.lasting_bytes);
    CHECK(planned.memory_bytes > raw.memory_bytes);
  }
}

}  // namespace headway::test
