// SPDX-License-Identifier: MIT
#include "analyzer/steps/pattern.h"

#include <doctest/doctest.h>

#include "analyzer/steps/steps.h"
#include "tests/support/property.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

std::vector<std::uint32_t> repeat(std::vector<std::uint32_t> step, int times) {
  std::vector<std::uint32_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), step.begin(), step.end());
  return all;
}

/// Tokens: 0 embedding, 1..3 a layer's ops, 4 loss, 5 optimizer.
std::vector<std::uint32_t> transformer_step(int layers) {
  std::vector<std::uint32_t> step = {0};
  for (int i = 0; i < layers; ++i) step.insert(step.end(), {1, 2, 3});
  step.insert(step.end(), {4, 5});
  return step;
}

}  // namespace

TEST_CASE("the period is the step, not one of its equal layers") {
  Period period = find_period(repeat(transformer_step(12), 6), 6);
  CHECK(period.anchors.size() == 6);
  CHECK(period.score == doctest::Approx(1.0));
}

TEST_CASE("what happens in every second step only does not double the period") {
  std::vector<std::uint32_t> tokens;
  for (int i = 0; i < 10; ++i) {
    for (std::uint32_t t = 0; t < 20; ++t) tokens.push_back(t);
    if (i % 2) tokens.push_back(20);
  }
  CHECK(find_period(tokens, 21).anchors.size() == 10);
}

TEST_CASE("a sequence without order has no period") {
  std::vector<std::uint32_t> tokens;
  std::uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    tokens.push_back(state >> 16 & 1023);
  }
  CHECK(find_period(tokens, 1024).anchors.empty());
  CHECK(find_period({}, 0).anchors.empty());
}

TEST_CASE("a planted period of any length is found") {
  test::check_property("period", [] {
    auto length = *rc::gen::inRange<std::uint32_t>(3, 40);
    int times = *rc::gen::inRange(3, 12);
    std::vector<std::uint32_t> step;
    for (std::uint32_t i = 0; i < length; ++i)
      step.push_back(*rc::gen::inRange<std::uint32_t>(0, length - 1));
    step.push_back(length - 1);  // once per step
    Period period = find_period(repeat(step, times), length);
    RC_ASSERT(period.anchors.size() == static_cast<std::size_t>(times));
  });
}

TEST_CASE("without named steps the launches between optimizer kernels are the steps") {
  TraceBuilder builder;
  std::int64_t t = 1000;
  for (int step = 0; step < 8; ++step) {
    for (int k = 0; k < 12; ++k, t += 100)
      builder.launch(1, t, t + 10, t + 20, t + 90, {.name = k % 2 ? "gemm" : "relu"});
    builder.launch(1, t, t + 10, t + 20, t + 90, {.name = "nll_loss"});
    t += 100;
    builder.launch(1, t, t + 10, t + 20, t + 90, {.name = "multi_tensor_apply_kernel<Adam>"});
    t += 300;
  }
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kPattern);
  REQUIRE(steps.all.size() == 6);  // of seven whole repetitions, seven ends: six steps between
  CHECK(steps.all[0].host.length().ns == 1600);
  CHECK(steps.how.find("multi_tensor_apply") != std::string::npos);
}

TEST_CASE("a repetition without update or input is no step: it may be a layer or a request") {
  TraceBuilder builder;
  for (std::int64_t t = 0; t < 40'000; t += 400) {
    for (int k = 0; k < 4; ++k)
      builder.launch(1, t + k * 100, t + k * 100 + 10, t + k * 100 + 20, t + k * 100 + 90,
                     {.name = k == 0   ? "norm"
                              : k == 1 ? "gemm"
                              : k == 2 ? "softmax"
                                       : "gelu"});
  }
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kNone);
  CHECK(steps.how.find("repeats") != std::string::npos);
}

TEST_CASE("annotations that come back with each optimizer step are steps") {
  TraceBuilder builder;
  for (std::int64_t t = 1000; t < 9000; t += 1000) {
    builder.range(1, "Optimizer.zero_grad#SGD.zero_grad", t, t + 20);
    builder.range(1, "## forward ##", t + 30, t + 400);
    builder.range(1, "## backward ##", t + 410, t + 800);
    builder.range(1, "Optimizer.step#SGD.step", t + 810, t + 900);
  }
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kPattern);
  REQUIRE(!steps.all.empty());
  CHECK(steps.all[0].host.length().ns == 1000);
  CHECK(steps.all[0].host.end.ns % 1000 == 900);
}

TEST_CASE("of several ranges per step the outer ones are the steps") {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 6; ++i) {
    builder.range(1, "iteration " + std::to_string(i), i * 1000, i * 1000 + 950);
    builder.range(1, "step", i * 1000 + 10, i * 1000 + 400);
    builder.range(1, "step", i * 1000 + 410, i * 1000 + 900);
  }
  trace::Trace trace = builder.load();
  Steps steps = find_steps(trace);
  CHECK(steps.source == StepSource::kNamed);
  REQUIRE(steps.all.size() == 6);
  CHECK(steps.all[2].number == 2);
}

TEST_CASE("one ProfilerStep is a step, one range named step is not") {
  TraceBuilder one;
  one.range(1, "ProfilerStep#7", 100, 900);
  trace::Trace trace = one.load();
  Steps steps = find_steps(trace);
  REQUIRE(steps.all.size() == 1);
  CHECK(steps.all[0].number == 7);
  TraceBuilder other;
  other.range(1, "step", 100, 900);
  trace::Trace without = other.load();
  CHECK(find_steps(without).source == StepSource::kNone);
}

}  // namespace headway::analyzer
