// SPDX-License-Identifier: MIT
// Text that a transformer continues: with kept keys and values it says what it says without, sooner.
#include "reference_trainer/train/generation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "tests/reference_trainer/simulated_data.h"

namespace headway::trainer {
namespace {

Settings tiny() {
  Settings settings;
  settings.mode = RunMode::kInfer;
  settings.model = ModelKind::kTransformer;
  settings.data = DataKind::kGenerated;
  settings.layers = 2;
  settings.features = 24;
  settings.heads = 3;
  settings.sequence = 20;
  settings.generate = 12;
  settings.batch = 4;
  settings.steps = 30;  // two prompts whole and a part of a third
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

/// Large weights, so that texts differ.
ParameterSet parameters_of(const Settings& settings) {
  Model model = build_generation_part(settings, TransformerPart::kAgain);
  ParameterSet set = initial_parameters(model.graph, 7);
  for (auto& [name, values] : set)
    if (name.starts_with("embedding"))
      for (float& value : values) value *= 20;
  return set;
}

std::vector<std::vector<std::int32_t>> text_of(const Settings& settings) {
  HostDevice device({1});
  test::SimulatedData data(settings);
  return Generation(settings, device, data.data(), parameters_of(settings)).run({}).tokens;
}

sim::SimulatedRun simulated(Settings settings) {
  settings.device = DeviceKind::kSim;
  settings.layers = 6;
  settings.features = 1024;
  settings.heads = 16;
  settings.sequence = 1024;
  settings.generate = 768;
  settings.steps = 768;
  settings.infer_precision = InferPrecision::kBf16;
  test::SimulatedData data(settings);
  return sim::simulate(settings, data.data(), {true, false}, {});
}

}  // namespace

TEST_CASE("with a cache and without one the same tokens follow a prompt") {
  Settings settings = tiny();
  const auto cached = text_of(settings);
  REQUIRE(cached.size() == 30);
  std::set<std::int32_t> different;
  for (const auto& step : cached) {
    CHECK(step.size() == 4);
    different.insert(step.begin(), step.end());
  }
  CHECK(different.size() > 10);
  settings.kv_cache = false;
  CHECK(text_of(settings) == cached);
  settings.fused_attention = settings.fused_ln = settings.fused_epilogue = false;
  settings.graph_compiler = GraphCompiler::kOff;
  CHECK(text_of(settings) == cached);
  settings.kv_cache = true;
  CHECK(text_of(settings) == cached);
  settings.cuda_graph = true;
  settings.loss_read = LossRead::kStep;
  CHECK(text_of(settings) == cached);
}

TEST_CASE("products of one row have the weights of those of a prompt") {
  Settings settings = tiny();
  settings.batch = 1;
  const auto cached = text_of(settings);
  settings.kv_cache = false;
  CHECK(text_of(settings) == cached);
}

TEST_CASE("each token is the likeliest of a plain graph over all tokens before it") {
  Settings settings = tiny();
  settings.batch = 1;
  settings.steps = settings.generate;
  const auto text = text_of(settings);
  test::SimulatedData data(settings);
  // The prompt, and what followed it, as one batch of a graph that knows nothing of generation.
  const std::int64_t prompt = settings.sequence - settings.generate;
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(settings.sequence));
  HostDevice device({1});
  const StreamId stream = device.create_stream("compute");
  Settings first = settings;
  first.sequence = prompt;
  first.shuffle = false;
  BatchesWanted wanted;
  wanted.batches = 1;
  const auto loader = open_training_batches(first, device, data.data(), wanted);
  Batch* batch = loader->next();
  REQUIRE(batch);
  std::copy_n(batch->images.as<std::int32_t>(), prompt, tokens.begin());
  for (std::int64_t i = 0; i + 1 < settings.generate; ++i)
    tokens[static_cast<std::size_t>(prompt + i)] = text[static_cast<std::size_t>(i)][0];
  Model model = build_forward_model(settings, data.data(), false);
  const auto compiled = device.compile(model.graph, {.keep_activations = true});
  write_parameters(parameters_of(settings), model.graph, *compiled);
  device.copy_blocking(stream, compiled->memory(model.images),
                       {tokens.data(), MemoryKind::kPageable}, settings.sequence * 4, 0);
  Executor(device, stream, model.graph, *compiled, 0, {}).run(Phase::kForward, {});
  const std::vector<float> logits = compiled->read(model.graph.find("head"));
  for (std::int64_t i = 0; i < settings.generate; ++i) {
    CAPTURE(i);
    const auto row = logits.begin() + (prompt + i - 1) * 256;
    CHECK(std::max_element(row, row + 256) - row == text[static_cast<std::size_t>(i)][0]);
  }
}

TEST_CASE("without a cache a token takes longer the more there are before it") {
  Settings settings = tiny();
  settings.batch = 8;
  const sim::SimulatedRun cached = simulated(settings);
  settings.kv_cache = false;
  const sim::SimulatedRun again = simulated(settings);
  CHECK(again.result.mean_step_s() > 3 * cached.result.mean_step_s());
  auto seconds = [](const sim::SimulatedRun& run, std::size_t step) {
    return *run.result.steps[step].device_end_s - *run.result.steps[step - 1].device_end_s;
  };
  CHECK(seconds(again, 700) > 1.5 * seconds(again, 100));
  CHECK(seconds(cached, 700) < 1.5 * seconds(cached, 100));
}

TEST_CASE("launches of a token become one call, and it takes less") {
  Settings settings = tiny();
  settings.batch = 1;
  settings.launch_us = 5;
  const double apart = simulated(settings).result.mean_step_s();
  settings.cuda_graph = true;
  CHECK(simulated(settings).result.mean_step_s() < 0.7 * apart);
}

}  // namespace headway::trainer
