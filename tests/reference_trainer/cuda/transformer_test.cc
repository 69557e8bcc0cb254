// SPDX-License-Identifier: MIT
// The transformer on both devices: the same graph, parameters and batches, under each of its switches.
#include <doctest/doctest.h>

#include "tests/reference_trainer/cuda/both_devices.h"

namespace headway::trainer {
namespace {

using test::check_same_on_both;

/// Two blocks of 16 features on generated sentences, four steps of SGD: Adam would make whole steps of gradients that
/// are nothing but rounding.
Settings tiny_text() {
  Settings settings;
  settings.model = ModelKind::kTransformer;
  settings.data = DataKind::kGenerated;
  settings.layers = 2;
  settings.heads = 2;
  settings.features = 16;
  settings.sequence = 16;
  settings.batch = 4;
  settings.optimizer = OptimizerChoice::kSgd;
  settings.steps = 4;
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

}  // namespace

TEST_CASE("the transformer trains as on the host, fused and in parts") {
  check_same_on_both(tiny_text());
  for (bool Settings::*one : {&Settings::fused_ln, &Settings::fused_attention,
                              &Settings::fused_bias_act, &Settings::fused_loss}) {
    Settings settings = tiny_text();
    settings.*one = false;
    check_same_on_both(settings);
  }
  Settings apart = tiny_text();
  apart.graph_compiler = GraphCompiler::kOff;
  check_same_on_both(apart);
  Settings none = tiny_text();
  none.fused_ln = none.fused_attention = none.fused_bias_act = none.fused_loss = false;
  check_same_on_both(none);
  none.graph_compiler = GraphCompiler::kOff;
  check_same_on_both(none);
}

TEST_CASE("windows, shifted ones too, train as on the host, fused and in parts") {
  Settings settings = tiny_text();
  settings.window = 4;
  check_same_on_both(settings);
  settings.fused_attention = false;
  check_same_on_both(settings);
}

TEST_CASE(
    "each optimizer trains as on the host, over all parameters at once, one by one, in passes") {
  for (OptimizerChoice optimizer : {OptimizerChoice::kSgd, OptimizerChoice::kAdam,
                                    OptimizerChoice::kLamb, OptimizerChoice::kLars}) {
    CAPTURE(static_cast<int>(optimizer));
    Settings settings = tiny_text();
    settings.optimizer = optimizer;
    check_same_on_both(settings);
    settings.fused_optimizer = OptimizerFusion::kParameter;
    check_same_on_both(settings);
    settings.fused_optimizer = OptimizerFusion::kOff;
    check_same_on_both(settings);
  }
}

TEST_CASE("each precision trains as on the host, which rounds the same operands") {
  for (Precision precision :
       {Precision::kTf32, Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    CAPTURE(static_cast<int>(precision));
    const bool narrow = precision == Precision::kBf16;
    for (bool fused : {true, false}) {
      CAPTURE(fused);
      Settings settings = tiny_text();
      settings.precision = precision;
      settings.fused_ln = settings.fused_attention = settings.fused_bias_act = fused;
      settings.fused_loss = fused;
      settings.graph_compiler = fused ? GraphCompiler::kOn : GraphCompiler::kOff;
      check_same_on_both(settings, narrow ? 3e-3 : 1e-3, narrow ? 5e-2 : 1e-2);
    }
  }
}

TEST_CASE("heads that fit the tensor cores train as on the host in every narrow precision") {
  for (Precision precision : {Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    CAPTURE(static_cast<int>(precision));
    const bool narrow = precision == Precision::kBf16;
    for (std::int64_t window : {0, 8}) {
      CAPTURE(window);
      Settings settings = tiny_text();
      settings.heads = 1;  // of 16
      settings.precision = precision;
      settings.window = window;
      settings.cuda_graph = window > 0;
      check_same_on_both(settings, narrow ? 3e-3 : 1e-3, narrow ? 5e-2 : 1e-2);
    }
  }
}

TEST_CASE("each way of feeding, waiting and reading the loss gives the same losses") {
  const test::Trained host = test::train_on_host(tiny_text());
  auto check = [&](auto&& change) {
    Settings settings = tiny_text();
    change(settings);
    test::check_same(test::train_on_gpu(settings), host, 1e-4, 5e-3);
  };
  check([](Settings& s) { s.sync.ops = 1; });
  check([](Settings& s) { s.loss_read = LossRead::kStep; });
  check([](Settings& s) { s.h2d = CopyMode::kBlocking; });
  check([](Settings& s) { s.h2d = CopyMode::kAsync; });
  check([](Settings& s) { s.pinned = false; });
  check([](Settings& s) { s.run_ahead = 1; });
}

TEST_CASE(
    "phases as CUDA graphs train to the same bits, with dropout, both slots and every precision") {
  for (Precision precision : {Precision::kFp32, Precision::kAmpO2}) {
    for (CopyMode mode : {CopyMode::kPrefetch, CopyMode::kAsync}) {
      Settings settings = tiny_text();
      settings.optimizer = OptimizerChoice::kAdam;
      settings.precision = precision;
      settings.h2d = mode;
      settings.steps = 7;
      const test::Trained one_by_one = test::train_on_gpu(settings);
      settings.cuda_graph = true;
      const test::Trained joined = test::train_on_gpu(settings);
      CHECK(joined.parameters == one_by_one.parameters);
      for (std::size_t i = 0; i < joined.result.steps.size(); ++i)
        CHECK(*joined.result.steps[i].loss == *one_by_one.result.steps[i].loss);
    }
  }
}

TEST_CASE("what is trained is evaluated on the GPU as on the host") {
  test::check_evaluated_alike(tiny_text(), 5e-3);
}

}  // namespace headway::trainer
