// SPDX-License-Identifier: MIT
#include "analyzer/evidence/optimizer_calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace headway::analyzer {
namespace {

/// Time of an implementation per tensor and per element. Measured with PyTorch 2.15 on one thread
/// of a virtual EPYC, with 10 to 100 tensors of 64 to 131,072 elements. Another machine scales both
/// alike, so only ratios are used.
struct Cost {
  double tensor_ns;
  double element_ns;
  double of(std::int64_t tensors, std::int64_t elements) const {
    return tensor_ns * static_cast<double>(tensors) + element_ns * static_cast<double>(elements);
  }
};
struct Implementations {
  std::string_view optimizer;
  Cost loop;
  Cost foreach;
  Cost fused;
};
constexpr std::array kKnown = {
    Implementations{"SGD", {6'000, 0.31}, {3'900, 0.28}, {1'400, 0.20}},
    Implementations{"AdamW", {24'500, 1.40}, {16'000, 1.30}, {4'200, 0.55}},
    Implementations{"Adam", {24'500, 1.40}, {16'000, 1.30}, {4'200, 0.55}},
    Implementations{"Adagrad", {14'000, 0.80}, {9'000, 0.75}, {3'000, 0.40}},
};
/// Range of the true ratio relative to the estimate: caches and very different tensor sizes matter.
constexpr double kLeast = 0.6;
constexpr double kMost = 1.5;
/// The first PyTorch version with fused implementations for CPUs.
constexpr std::array kSince = {2, 4};

std::string_view value_of(std::string_view text, std::string_view key) {
  const std::string mark = " " + std::string(key) + "=";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find(' '));
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_recent(std::string_view version) {
  const std::int64_t major = number(version);
  const std::size_t dot = version.find('.');
  const std::int64_t minor = dot == std::string_view::npos ? 0 : number(version.substr(dot + 1));
  return major > kSince[0] || (major == kSince[0] && minor >= kSince[1]);
}

void find_thread(const RuleContext& context, OptimizerCalls& calls) {
  for (const DevicePartition& one : context.partitions) {
    if (one.device.valid() || one.steady_steps == 0) continue;
    const DurationNs time = one.per_steady_step[TimeClass::kOptimizer];
    if (calls.partition && time <= calls.per_step) continue;
    calls.partition = &one;
    calls.per_step = time;
  }
}

}  // namespace

OptimizerCalls find_optimizer_calls(const RuleContext& context) {
  OptimizerCalls calls;
  calls.flags = context.trace.setting("optimizer");
  if (calls.flags.empty()) {
    calls.missing = "the optimizer and its parameter count are unknown";
    return calls;
  }
  calls.name = calls.flags.substr(0, calls.flags.find(' '));
  calls.tensors = number(value_of(calls.flags, "tensors"));
  calls.elements = number(value_of(calls.flags, "elements"));
  find_thread(context, calls);
  const auto known = std::ranges::find(kKnown, calls.name, &Implementations::optimizer);
  if (!calls.partition || value_of(calls.flags, "device") != "cpu") {
    calls.missing = "the optimizer does not update on the CPU";
  } else if (value_of(calls.flags, "fused") == "True") {
    calls.missing = "the optimizer is already fused";
  } else if (known == kKnown.end()) {
    calls.missing = "the optimizer has no known fused implementation for CPUs";
  } else if (!is_recent(context.trace.setting("torch"))) {
    calls.missing = "PyTorch has fused CPU optimizers since 2.4";
  }
  if (!calls.missing.empty()) return calls;
  const bool foreach = value_of(calls.flags, "foreach") == "True";
  const double now = (foreach ? known->foreach : known->loop).of(calls.tensors, calls.elements);
  if (now <= 0) {
    calls.missing = "the optimizer has no parameters";
    return calls;
  }
  calls.fused_share = std::min(1.0, known->fused.of(calls.tensors, calls.elements) / now);
  calls.least = calls.fused_share * kLeast;
  calls.most = std::min(1.0, calls.fused_share * kMost);
  return calls;
}

}  // namespace headway::analyzer
