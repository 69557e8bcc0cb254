// SPDX-License-Identifier: MIT
#include "analyzer/evidence/slow_gradients.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Assumed time of a data gradient as a multiple of its forward pass, with fewer than kEnough
/// convolutions to measure it.
constexpr double kExpected = 1.5;
constexpr std::size_t kEnough = 3;

struct Convolution {
  DurationNs forward;
  DurationNs gradient;
  trace::DeviceOpId longest;               ///< data gradient
  std::vector<trace::DeviceOpId> kernels;  ///< data gradients
  bool is_slow() const {
    return forward.ns > 0 &&
           static_cast<double>(gradient.ns) > kSlowGradient * static_cast<double>(forward.ns);
  }
  DurationNs excess(double expected) const {
    return {std::llround(static_cast<double>(gradient.ns) -
                         expected * static_cast<double>(forward.ns))};
  }
};

/// Median ratio of data gradient to forward pass over the convolutions that are not slow.
double usual_ratio(const std::unordered_map<std::uint64_t, Convolution>& convolutions) {
  std::vector<double> ratios;
  for (const auto& [unused, one] : convolutions)
    if (one.forward.ns > 0 && one.gradient.ns > 0 && !one.is_slow())
      ratios.push_back(ratio(one.gradient, one.forward));
  return ratios.size() < kEnough ? kExpected : median(ratios);
}

/// Autograd's sequence number of a range: recorded, or in the name as PyTorch's emit_nvtx writes
/// it; negative if there is none.
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

/// A key that a convolution's forward and backward kernels share: their graph op, or autograd's
/// sequence number; 0 if the trace does not link them.
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

}  // namespace

Gradients measure_gradients(const RuleContext& context, const DevicePartition& device,
                            const KernelWork& work) {
  Gradients result;
  if (work.of(KernelFamily::kConvolution).ns == 0) return result;
  std::unordered_map<std::uint64_t, Convolution> convolutions;
  std::vector<std::pair<trace::DeviceOpId, double>> by_name;
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
          by_name.emplace_back(op, 0.5);
          if (longest.wants(time)) longest.add(ops.interval(op), op, short_name(context, op));
          return;
        }
        Convolution& convolution = convolutions[key];
        if (forward) {
          convolution.forward += time;
          return;
        }
        convolution.gradient += time;
        convolution.kernels.push_back(op);
        if (!convolution.longest.valid() || time > duration(context, convolution.longest))
          convolution.longest = op;
      });
  if (steps == 0) return result;
  const double expected = usual_ratio(convolutions);
  for (const auto& [unused, convolution] : convolutions) {
    if (convolution.forward.ns > 0) result.linked += convolution.gradient;
    if (!convolution.is_slow()) continue;
    const DurationNs excess = convolution.excess(expected);
    result.recoverable += excess;
    result.time += convolution.gradient;
    ++result.slow;
    for (trace::DeviceOpId op : convolution.kernels)
      result.kernels.emplace_back(op, 1 - ratio(excess, convolution.gradient));
    Interval where = ops.interval(convolution.longest);
    if (longest.wants(where.length()))
      longest.add(where, convolution.longest,
                  fmt::format("{:.1f} times the forward pass: {}",
                              static_cast<double>(convolution.gradient.ns) /
                                  static_cast<double>(convolution.forward.ns),
                              short_name(context, convolution.longest)));
  }
  result.by_name = result.slow == 0 && named.ns > 0;
  if (result.by_name) {
    result.recoverable = named / 2;
    result.time = named;
    result.kernels = std::move(by_name);
  }
  for (DurationNs* time : {&result.recoverable, &result.time, &result.all, &result.linked})
    *time = *time / steps;
  result.evidence = longest.take();
  return result;
}

}  // namespace headway::analyzer
