// SPDX-License-Identifier: MIT
#include "analyzer/steps/program.h"

#include <doctest/doctest.h>

#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

ProgramFacts facts_of(TraceBuilder& builder) {
  trace::Trace trace = builder.load();
  return find_program(trace, RangeNames(trace), KernelNames(trace));
}

}  // namespace

TEST_CASE("operators without a backward pass or an update are inference") {
  TraceBuilder builder;
  builder.domain("cpu_op");
  builder.range(1, "aten::linear", 0, 100);
  ProgramFacts facts = facts_of(builder);
  CHECK(facts.mode == ProgramMode::kInference);
  CHECK(facts.uses(Framework::kPyTorch));
  CHECK_FALSE(facts.uses(Framework::kJax));
}

TEST_CASE("a backward op or an update is training, clearing gradients alone is not") {
  TraceBuilder backward;
  backward.domain("cpu_op");
  backward.range(1, "aten::linear", 0, 100);
  backward.range(2, "autograd::engine::evaluate_function: AddmmBackward0", 200, 300);
  CHECK(facts_of(backward).mode == ProgramMode::kTraining);
  TraceBuilder clearing;
  clearing.domain("user_annotation");
  clearing.range(1, "Optimizer.zero_grad#SGD.zero_grad", 0, 100);
  clearing.domain("cpu_op");
  clearing.range(1, "aten::linear", 200, 300);
  CHECK(facts_of(clearing).mode == ProgramMode::kInference);
}

TEST_CASE("a Python file called like an optimizer proves nothing") {
  TraceBuilder builder;
  builder.domain("python_function");
  builder.range(1, "engine/graph_optimizer.py(12): backward", 0, 100);
  builder.domain("cpu_op");
  builder.range(1, "aten::mm", 10, 20);
  CHECK(facts_of(builder).mode == ProgramMode::kInference);
}

TEST_CASE("engines' ranges are inference even without operators, plain ranges tell nothing") {
  TraceBuilder engine;
  engine.range(1, "execute_context_1(888_788544)_generation_0(0)", 0, 100);
  CHECK(facts_of(engine).mode == ProgramMode::kInference);
  TraceBuilder plain;
  plain.range(1, "forward", 0, 100);
  CHECK(facts_of(plain).mode == ProgramMode::kUnknown);
}

TEST_CASE("kernels of an update are training in a recording of the device alone") {
  TraceBuilder builder;
  builder.launch(1, 0, 10, 20, 90,
                 {.name = "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>"});
  ProgramFacts facts = facts_of(builder);
  CHECK(facts.mode == ProgramMode::kTraining);
  CHECK(facts.uses(Framework::kPyTorch));
}

TEST_CASE("advice fits the frameworks that were seen, and the trainer's only its own runs") {
  ProgramFacts unknown;
  CHECK(unknown.advice_fits("PyTorch"));
  CHECK_FALSE(unknown.advice_fits("headway-train"));
  ProgramFacts torch;
  torch.frameworks = static_cast<std::uint8_t>(Framework::kPyTorch);
  CHECK(torch.advice_fits("PyTorch"));
  CHECK_FALSE(torch.advice_fits("TensorFlow/JAX"));
  CHECK(torch.advice_fits("CUDA"));
  ProgramFacts trainer;
  trainer.frameworks = static_cast<std::uint8_t>(Framework::kHeadwayTrain);
  CHECK(trainer.advice_fits("headway-train"));
  CHECK_FALSE(trainer.advice_fits("PyTorch"));
}

}  // namespace headway::analyzer
