// SPDX-License-Identifier: MIT
#include "analyzer/steps/program.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "analyzer/steps/engine_passes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::string_view kTrainer = "headway-train";

std::uint8_t bit(Framework framework) {
  return static_cast<std::uint8_t>(framework);
}

bool is_training(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kUpdate;
}

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::uint8_t framework_of_range(std::string_view name) {
  static constexpr auto kPyTorch = std::to_array<std::string_view>(
      {"aten::", "torch/", "nn.Module:", "autograd::", "ProfilerStep#", "Optimizer.step#",
       "enumerate(DataLoader)", "DistributedDataParallel.", "Torch-Compiled Region"});
  static constexpr auto kJax = std::to_array<std::string_view>(
      {"jit(", "jit_", "pjit", "PjitFunction", "XlaModule", "PjRt", "TSL:", "jax/", "jax.grad"});
  static constexpr auto kTensorFlow = std::to_array<std::string_view>(
      {"IteratorGetNext", "tensorflow::", "tensorflow/", "TFRecord", "ExecutorState::Process",
       "tf.function:", "tf.GradientTape."});
  if (starts_with_any(name, kPyTorch)) return bit(Framework::kPyTorch);
  if (starts_with_any(name, kJax)) return bit(Framework::kJax);
  if (starts_with_any(name, kTensorFlow)) return bit(Framework::kTensorFlow);
  return 0;
}

/// Keras' own ranges do not tell what computes; a setting does: "3.15.1 backend=jax".
std::uint8_t framework_below_keras(const Trace& trace) {
  const std::string_view said = trace.setting("keras");
  if (said.ends_with("backend=torch")) return bit(Framework::kPyTorch);
  if (said.ends_with("backend=jax")) return bit(Framework::kJax);
  return said.ends_with("backend=tensorflow") ? bit(Framework::kTensorFlow) : std::uint8_t{0};
}

std::uint8_t framework_of_kernel(std::string_view name) {
  if (name.find("at::native") != std::string_view::npos ||
      name.find("at_cuda_detail") != std::string_view::npos)
    return bit(Framework::kPyTorch);
  if (name.find("tensorflow::") != std::string_view::npos) return bit(Framework::kTensorFlow);
  return 0;
}

bool trains(const KernelTraits& traits) {
  return traits.family == KernelFamily::kOptimizer || traits.pass == ConvPass::kWeightGradient;
}

}  // namespace

std::string_view program_mode_id(ProgramMode mode) {
  switch (mode) {
    case ProgramMode::kUnknown:
      return "unknown";
    case ProgramMode::kTraining:
      return "training";
    case ProgramMode::kInference:
      return "inference";
  }
  return "unknown";
}

bool ProgramFacts::advice_fits(std::string_view framework) const {
  auto named = [&](Framework one, std::string_view label) {
    return uses(one) && framework.find(label) != std::string_view::npos;
  };
  if (framework == kTrainer) return uses(Framework::kHeadwayTrain);
  const bool known = named(Framework::kPyTorch, "PyTorch") || named(Framework::kJax, "JAX") ||
                     named(Framework::kTensorFlow, "TensorFlow");
  const bool labels_framework = framework.find("PyTorch") != std::string_view::npos ||
                                framework.find("JAX") != std::string_view::npos ||
                                framework.find("TensorFlow") != std::string_view::npos;
  return frameworks == 0 || known || !labels_framework;
}

std::string ProgramFacts::fitting_knob(std::string_view knob) const {
  constexpr std::string_view kPin = ", pin_memory=True";
  std::string text(knob);
  if (on_device) return text;
  if (const std::size_t at = text.find(kPin); at != std::string::npos) text.erase(at, kPin.size());
  return text;
}

ProgramFacts find_program(const Trace& trace, const RangeNames& names, const KernelNames& kernels) {
  ProgramFacts facts;
  facts.on_device = trace.device_ops.size() > 0;
  bool training = std::any_of(trace.graph_ops.begin(), trace.graph_ops.end(),
                              [](const GraphOp& op) { return is_training(op.phase); });
  bool operators = false;
  bool engine = false;
  const bool hook = !trace.setting("python_hook").empty();
  if (trace.setting("trainer") == kTrainer) {
    facts.frameworks |= bit(Framework::kHeadwayTrain);
    // Where it trains first, ops of the backward pass say so.
    operators = trace.setting("mode") == "infer";
    training = training || !operators;
  }
  std::vector<bool> seen(trace.strings.size());
  const Ranges& ranges = trace.ranges;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeSource source = names.source(RangeId{i});
    if (source == RangeSource::kDevice) continue;
    const RangeInfo* info = trace.info(RangeId{i});
    // The hook calls a range a step only where an update was in it.
    training = training ||
               (info && (is_training(info->phase) || (hook && info->kind == RangeKind::kStep)));
    const StringId id = ranges.name[i];
    if (id.value >= seen.size() || seen[id.value]) continue;
    seen[id.value] = true;
    const std::string_view name = trace.strings[id];
    // A Python file may be called anything; what it calls shows as an operator or an annotation.
    training =
        training || (source != RangeSource::kPython && is_training(names[RangeId{i}].phase) &&
                     name.find("zero_grad") == std::string_view::npos);
    operators = operators || source == RangeSource::kOperator || name.starts_with("aten::");
    engine = engine || (source != RangeSource::kPython && means_pass(name));
    facts.frameworks |=
        name.starts_with("keras.") ? framework_below_keras(trace) : framework_of_range(name);
  }
  std::vector<bool> judged(trace.strings.size());
  const DeviceOps& ops = trace.device_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    training = training || is_training(ops.phase[i]);
    const StringId id = ops.name[i];
    if (id.value >= judged.size() || judged[id.value]) continue;
    judged[id.value] = true;
    facts.frameworks |= framework_of_kernel(trace.strings[id]);
    training = training || (ops.kind[i] == DeviceOpKind::kKernel && trains(kernels.of(id)));
  }
  if (training)
    facts.mode = ProgramMode::kTraining;
  else if (engine || operators)
    facts.mode = ProgramMode::kInference;
  return facts;
}

}  // namespace headway::analyzer
