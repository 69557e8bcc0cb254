// SPDX-License-Identifier: MIT
// The residual network on both devices: the same graph, parameters and batches, under each of its switches.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "common/error.h"

#include "tests/reference_trainer/cuda/both_devices.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::check_same_on_both;

/// Few small steps: a network of many batch norms is chaotic, so that rounding grows from step to step.
Settings small_steps() {
  Settings settings = test::tiny_settings();
  settings.batch = 4;
  settings.steps = 3;
  settings.learning_rate = 0.01;
  return settings;
}

bool emulated() {
  return open_cuda_device({})->info().name == "Emulated GPU";
}

/// The host's run with every parameter changed by its last bit at the start.
test::Trained train_nudged(const Settings& settings) {
  HostDevice device({1});
  std::string note;
  DataSetup data(
      settings, [](auto, auto) {}, note);
  Trainer trainer(settings, device, data.data());
  auto& compiled =
      const_cast<CompiledGraph&>(trainer.compiled());  // nobody else has to write to it
  std::uint32_t random = 1;
  test::Trained trained;
  for (ValueId id : trainer.graph().parameters()) {
    std::vector<float> values = compiled.read(id);
    for (float& value : values) {
      random = random * 1664525U + 1013904223U;
      value *= 1 + ((random >> 16 & 1U) != 0 ? 1.2e-7F : -1.2e-7F);
    }
    compiled.write(id, values);
  }
  trained.result = trainer.run({});
  for (ValueId id : trainer.graph().parameters())
    trained.parameters[trainer.graph().value(id).name] = trainer.compiled().read(id);
  return trained;
}

/// Largest difference of any parameter, over the size of the largest of its tensor.
double distance(const test::Trained& a, const test::Trained& b) {
  double worst = 0;
  for (const auto& [name, values] : a.parameters) {
    double size = 1e-3;
    double difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      size = std::max<double>(size, std::abs(values[i]));
      difference = std::max<double>(difference, std::abs(values[i] - b.parameters.at(name)[i]));
    }
    worst = std::max(worst, difference / size);
  }
  return worst;
}

/// Fifty layers of batch norm over few pixels make much of little: some activation lies so near to 0 that its last bit
/// decides whether a gradient passes, and gradients of channels are small sums of large terms. What that does is
/// measured on the host. The first loss has met nothing of it yet.
void check_as_near_as_rounding(const Settings& settings) {
  const test::Trained host = test::train_on_host(settings);
  const test::Trained gpu = test::train_on_gpu(settings);
  CHECK(*gpu.result.steps[0].loss == doctest::Approx(*host.result.steps[0].loss).epsilon(1e-5));
  const double rounding = distance(train_nudged(settings), host);
  CAPTURE(rounding);
  CHECK(distance(gpu, host) < 4 * rounding + 1e-3);
  CHECK(distance(gpu, host) < 0.1);
}

}  // namespace

TEST_CASE("a residual network trains as on the host, fused and in parts") {
  check_same_on_both(small_steps());
  for (bool Settings::*one : {&Settings::fused_bn, &Settings::fused_loss}) {
    Settings settings = small_steps();
    settings.*one = false;
    check_same_on_both(settings);
  }
  Settings apart = small_steps();
  apart.graph_compiler = GraphCompiler::kOff;
  check_same_on_both(apart);
}

TEST_CASE("each precision of a residual network trains as on the host, which rounds the same") {
  for (Precision precision :
       {Precision::kTf32, Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    CAPTURE(static_cast<int>(precision));
    for (bool fused : {true, false}) {
      CAPTURE(fused);
      Settings settings = small_steps();
      settings.precision = precision;
      settings.fused_bn = settings.fused_loss = fused;
      settings.graph_compiler = fused ? GraphCompiler::kOn : GraphCompiler::kOff;
      check_same_on_both(settings, precision == Precision::kBf16 ? 5e-2 : 1e-2, 0.2);
    }
  }
}

TEST_CASE(
    "a residual network with its convolutions on NCHW trains as on the host, and as on NHWC") {
  for (Precision precision : {Precision::kFp32, Precision::kAmpO1, Precision::kAmpO2}) {
    CAPTURE(static_cast<int>(precision));
    Settings settings = small_steps();
    settings.precision = precision;
    const bool exact = precision == Precision::kFp32;
    const test::Trained last = test::train_on_gpu(settings);
    settings.channels_first = true;
    const test::Trained first = test::train_on_gpu(settings);
    test::check_same(first, last, exact ? 1e-4 : 1e-2, exact ? 5e-3 : 0.2);
    test::check_same(first, test::train_on_host(settings), exact ? 1e-4 : 1e-2, exact ? 5e-3 : 0.2);
  }
  Settings settings = small_steps();
  settings.channels_first = true;
  test::check_evaluated_alike(settings, 1e-2);
}

TEST_CASE("ResNet-20 trains as on the host") {
  Settings settings = small_steps();
  settings.steps = 2;
  settings.depth = 20;
  check_same_on_both(settings, 1e-4, 1e-2);
}

TEST_CASE("ResNet-50 trains as on the host, as nearly as rounding lets any two runs agree") {
  Settings settings = small_steps();
  settings.depth = 50;
  settings.width = 4;
  settings.batch = 8;
  settings.steps = 1;
  check_as_near_as_rounding(settings);
}

TEST_CASE("a residual network with a large stem, of pictures, trains as on the host") {
  const test::TemporaryFolder cache;
  // 7x7 of stride 2 and max pooling come with ResNet-50 on 64 pixels and more.
  Settings settings = small_steps();
  settings.depth = 50;
  settings.width = 2;
  settings.batch = 4;
  settings.steps = 1;
  settings.data = DataKind::kGeneratedPictures;
  settings.image_size = 64;
  settings.source = SourceKind::kShards;
  settings.cache_dir = cache.path().string();
  settings.samples = 10;
  check_as_near_as_rounding(settings);
}

TEST_CASE("a step asks cuDNN for nothing but to run what was chosen while the graph was compiled") {
  if (!emulated()) {
    MESSAGE("[skipped] only the stand-in for cuDNN counts its calls");
    return;
  }
  const test::TemporaryFolder folder;
  auto calls_of = [&](std::int64_t steps) {
    const std::string file = folder / fmt::format("calls-{}", steps);
    ::setenv("FAKE_CUDNN_CALLS", file.c_str(), 1);
    Settings settings = small_steps();
    settings.steps = steps;
    test::train_on_gpu(settings);
    ::unsetenv("FAKE_CUDNN_CALLS");
    std::map<std::string, int> calls;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) ++calls[line];
    return calls;
  };
  std::map<std::string, int> few = calls_of(2);
  std::map<std::string, int> many = calls_of(6);
  // Seven convolutions and two shortcuts, each with its weights' gradient; none needs that of the images.
  CHECK(many["cudnnBackendExecute"] - few["cudnnBackendExecute"] == 4 * (9 + 9 + 8));
  few.erase("cudnnBackendExecute");
  many.erase("cudnnBackendExecute");
  CHECK(many == few);
}

TEST_CASE(
    "a convolution that cuDNN cannot do is refused by name, with its shape and what cuDNN says") {
  if (!emulated()) {
    MESSAGE("[skipped] only the stand-in for cuDNN refuses on demand");
    return;
  }
  ::setenv("FAKE_CUDNN_REFUSES", "1", 1);
  CHECK_THROWS_WITH_AS(
      test::train_on_gpu(small_steps()),
      doctest::Contains(
          "Op 'stem.conv' (conv2d): the cuda device cannot run it: Convolution 4x28x28x1 "
          "with 8 filters of 3x3, stride 1, padding 1, forward, FP32: cuDNN 91900 has no "
          "engine"),
      Error);
  ::unsetenv("FAKE_CUDNN_REFUSES");
}

TEST_CASE("each optimizer of a residual network, in each form, trains as on the host") {
  for (OptimizerChoice optimizer : {OptimizerChoice::kSgd, OptimizerChoice::kLars}) {
    for (OptimizerFusion fusion :
         {OptimizerFusion::kMultiTensor, OptimizerFusion::kParameter, OptimizerFusion::kOff}) {
      CAPTURE(static_cast<int>(fusion));
      Settings settings = small_steps();
      settings.steps = 2;
      settings.optimizer = optimizer;
      settings.fused_optimizer = fusion;
      check_same_on_both(settings);
    }
  }
}

TEST_CASE(
    "data gradients with zeros inserted train as on the host, in either layout and half "
    "precision") {
  for (bool channels_first : {false, true}) {
    for (Precision precision : {Precision::kFp32, Precision::kBf16}) {
      CAPTURE(channels_first);
      CAPTURE(static_cast<int>(precision));
      Settings settings = small_steps();
      settings.steps = 2;
      settings.slow_dgrad = true;
      settings.channels_first = channels_first;
      settings.precision = precision;
      if (precision == Precision::kFp32)
        check_same_on_both(settings);
      else
        check_same_on_both(settings, 5e-2, 0.2);
    }
  }
}

TEST_CASE("phases of a residual network as CUDA graphs, convolutions included, train the same") {
  for (Precision precision : {Precision::kFp32, Precision::kAmpO2}) {
    Settings settings = small_steps();
    settings.precision = precision;
    settings.steps = 5;
    const test::Trained one_by_one = test::train_on_gpu(settings);
    settings.cuda_graph = true;
    const test::Trained joined = test::train_on_gpu(settings);
    // On a GPU cuDNN may add a weight's gradient in any order.
    if (emulated())
      CHECK(joined.parameters == one_by_one.parameters);
    else
      test::check_same(joined, one_by_one, 1e-2, 0.1);
  }
}

TEST_CASE("a residual network is evaluated on the GPU with its running statistics as on the host") {
  test::check_evaluated_alike(small_steps(), 1e-2);
}

}  // namespace headway::trainer
