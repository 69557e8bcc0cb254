// SPDX-License-Identifier: MIT
// slow-strided-dgrad: data gradients of convolutions take far longer than their forward passes.
//
// Symptom: one dgrad kernel several times as long as the forward kernel of the same convolution.
// Mechanism: a data gradient does exactly the arithmetic of the forward pass; with stride over 1 it scatters into the
//   gaps between outputs, and older libraries pick an algorithm that computes the gaps too or gathers by index.
// Formula: d = time of an op's data gradients, f = of its forward kernels. Where d > 2.5 f, recoverable = d - 1.5 f.
//   Without a link between the passes: half the time of kernels whose name says strided dgrad, a rule of thumb.
// Falsified by: a forward pass that is fused or runs in another number type; then f is no measure for d.
// Known false positives: Winograd forward against a plain gradient, which differ by up to 2.25 times.
// Source: cuDNN release notes (strided dgrad of 8.1 and later), CUTLASS's StrideSupport.
#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "analyzer/rules/device_streams.h"
#include "analyzer/rules/registry.h"
#include "analyzer/rules/support.h"
#include "common/format.h"
#include "trace/trace.h"

namespace headway::analyzer {
namespace {

constexpr double kSlow = 2.5;
constexpr double kExpected = 1.5;

struct Convolution {
  DurationNs forward;
  DurationNs gradient;
  trace::DeviceOpId longest;  ///< data gradient
  DurationNs excess() const {
    auto f = static_cast<double>(forward.ns);
    auto d = static_cast<double>(gradient.ns);
    if (forward.ns == 0 || d <= kSlow * f) return {};
    return {static_cast<std::int64_t>(d - kExpected * f)};
  }
};

struct Gradients {
  DurationNs recoverable;
  DurationNs time;    ///< of the slow ones
  DurationNs all;     ///< of all data gradients
  DurationNs linked;  ///< of those whose forward pass is known
  std::size_t slow = 0;
  bool by_name = false;
  std::vector<Evidence> evidence;
};

/// Autograd's number of a range: recorded, or in the name as PyTorch's emit_nvtx writes it; below 0
/// when there is none.
std::int64_t sequence_of(const trace::Trace& trace, trace::RangeId range) {
  const trace::RangeInfo* info = trace.info(range);
  if (info && info->sequence >= 0) return info->sequence;
  constexpr std::string_view kMark = ", seq = ";
  std::string_view name = trace.strings[trace.ranges.name[range.value]];
  std::size_t at = name.find(kMark);
  if (at == std::string_view::npos) return -1;
  std::int64_t value = -1;
  std::string_view digits = name.substr(at + kMark.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// What a convolution's forward and backward kernels have in common: their graph op, or autograd's
/// number; 0 when the trace does not link them.
std::uint64_t op_key(const RuleContext& context, trace::DeviceOpId op) {
  constexpr std::uint64_t kSequence = std::uint64_t{1} << 63;
  const trace::GraphOpId graph =
      context.attribution.ops[context.attribution.op_of[op.value].value].graph_op;
  if (graph.valid()) {
    const trace::GraphOp& node = context.trace.graph_ops[graph.value];
    std::int64_t id = node.forward_op >= 0 ? node.forward_op : node.op;
    return (std::uint64_t{node.process.value} << 40 | static_cast<std::uint64_t>(id)) + 1;
  }
  std::uint32_t process =
      context.trace.streams[context.trace.device_ops.stream[op.value].value].process.value;
  for (trace::RangeId r = context.attribution.range_of[op.value]; r.valid();
       r = context.trace.ranges.parent[r.value]) {
    std::int64_t sequence = sequence_of(context.trace, r);
    if (sequence >= 0)
      return kSequence | std::uint64_t{process} << 40 | static_cast<std::uint64_t>(sequence);
  }
  return 0;
}

Gradients measure(const RuleContext& context, const DevicePartition& device,
                  const KernelWork& work) {
  Gradients result;
  if (work.of(KernelFamily::kConvolution).ns == 0) return result;
  std::unordered_map<std::uint64_t, Convolution> convolutions;
  DurationNs named;  // strided by name, without a forward pass to compare with
  LongestEvidence longest;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        KernelTraits traits = context.kernels.of(op);
        bool gradient = traits.pass == ConvPass::kDataGradient;
        bool forward = traits.pass == ConvPass::kForward &&
                       context.attribution.phase_of[op.value] != trace::Phase::kBackward;
        if (!gradient && !forward) return;
        DurationNs time = duration(context, op);
        std::uint64_t key = op_key(context, op);
        if (gradient) result.all += time;
        if (key == 0) {
          if (!gradient || !traits.strided) return;
          named += time;
          if (longest.wants(time)) longest.add(ops.interval(op), op, short_name(context, op));
          return;
        }
        Convolution& convolution = convolutions[key];
        if (forward) {
          convolution.forward += time;
          return;
        }
        convolution.gradient += time;
        if (!convolution.longest.valid() || time > duration(context, convolution.longest))
          convolution.longest = op;
      });
  if (steps == 0) return result;
  for (const auto& [unused, convolution] : convolutions) {
    if (convolution.forward.ns > 0) result.linked += convolution.gradient;
    DurationNs excess = convolution.excess();
    if (excess.ns == 0) continue;
    result.recoverable += excess;
    result.time += convolution.gradient;
    ++result.slow;
    Interval where = ops.interval(convolution.longest);
    if (longest.wants(where.length()))
      longest.add(where, convolution.longest,
                  fmt::format("{:.1f} times as long as the forward pass: {}",
                              static_cast<double>(convolution.gradient.ns) /
                                  static_cast<double>(convolution.forward.ns),
                              short_name(context, convolution.longest)));
  }
  result.by_name = result.slow == 0 && named.ns > 0;
  if (result.by_name) {
    result.recoverable = named / 2;
    result.time = named;
  }
  for (DurationNs* time : {&result.recoverable, &result.time, &result.all, &result.linked})
    *time = *time / steps;
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, gradients] = worst_device(
      context,
      [&](const DevicePartition& d, const KernelWork& w) { return measure(context, d, w); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (ratio(gradients.recoverable, context.step) < kFindingShare) {
    if (gradients.all.ns == 0) return fine(rule, "No data gradient of a convolution ran.");
    if (ratio(gradients.all, context.step) < kFindingShare)
      return fine(rule, fmt::format("Data gradients of convolutions take {}.",
                                    of_step(context, gradients.all, context.step)));
    if (ratio(gradients.linked, gradients.all) < 0.5)
      return cannot_tell(rule,
                         "The trace does not say which forward pass each data gradient belongs to; "
                         "record with op ranges (emit_nvtx, torch.profiler with record_shapes).");
    return fine(rule, fmt::format("Data gradients take {}; those far over their forward passes "
                                  "would gain {}.",
                                  of_step(context, gradients.all, context.step),
                                  format_duration(gradients.recoverable)));
  }
  Finding finding = found(rule, gradients.recoverable, context);
  finding.claim =
      gradients.by_name
          ? fmt::format(
                "Data gradients of strided convolutions take {} in kernels that gather by "
                "index.",
                of_step(context, gradients.time, context.step))
          : fmt::format(
                "Data gradients of {} convolutions take {}, over {} times their forward "
                "passes, though the arithmetic is the same.",
                gradients.slow, of_step(context, gradients.time, context.step), kSlow);
  finding.confidence = gradients.by_name ? 0.4 : 0.65;
  finding.evidence = std::move(gradients.evidence);
  finding.advice = {
      {"PyTorch",
       "Let the library search for a faster algorithm, in channels last and half precision, where "
       "newer releases have kernels for strides; update cuDNN.",
       "torch.backends.cudnn.benchmark = True, memory_format=torch.channels_last", ""},
      {"TensorFlow/JAX", "Let the library search for a faster algorithm; update cuDNN.",
       "TF_CUDNN_USE_AUTOTUNE=1, XLA_FLAGS=--xla_gpu_autotune_level=4", ""}};
  return finding;
}

}  // namespace

extern const Rule kSlowStridedDgrad = {
    "slow-strided-dgrad", "Slow data gradients",
    "Data gradients of convolutions over 2.5 times their forward passes, over 5 % of the step.",
    check};

}  // namespace headway::analyzer
