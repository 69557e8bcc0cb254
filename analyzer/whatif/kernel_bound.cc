// SPDX-License-Identifier: MIT
#include "analyzer/whatif/kernel_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/evidence/op_graph.h"
#include "analyzer/evidence/product_waves.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/kernel_rates.h"

namespace headway::analyzer {

double KernelBound::share_left(double faster, double bytes, double now_ns) const {
  if (!known() || now_ns <= 0) return 1;
  const double arithmetic = arithmetic_ns / faster;
  const double memory = memory_ns * bytes;
  if (arithmetic_ns >= memory_ns) {
    // The kernel is slower than large kernels for reasons of its own (waves, ramps), which stay, or
    // of its units, which no longer limit it. The geometric mean assumes half of each.
    const double reached = std::sqrt(std::min(1.0, arithmetic_ns / now_ns));
    return std::max(1 / faster, std::min(1.0, memory / now_ns / reached));
  }
  if (arithmetic <= memory) return bytes;
  const double beyond = std::max(0.0, now_ns - memory_ns);
  return std::max(bytes, (arithmetic + beyond) / now_ns);
}

double share_with_bytes(const Predictor& predictor, trace::DeviceOpId kernel,
                        std::int32_t multiprocessors, double times) {
  const auto blocks = static_cast<double>(predictor.trace().device_ops.blocks[kernel.value]);
  if (blocks <= 1 || multiprocessors <= 0) return times;
  return times * wave_fill(blocks, multiprocessors, kTailCosts) /
         wave_fill(std::max(1.0, times * blocks), multiprocessors, kTailCosts);
}

std::optional<double> single_precision_bytes(const Predictor& predictor,
                                             trace::DeviceOpId product) {
  constexpr double kSingle = 4;
  const trace::Trace& trace = predictor.trace();
  const Attribution& attribution = predictor.analysis().attribution;
  const trace::GraphOpId node = attribution.ops[attribution.op_of[product.value].value].graph_op;
  const auto bytes = static_cast<double>(trace.device_ops.bytes[product.value]);
  const auto flops = static_cast<double>(trace.device_ops.flops[product.value]);
  if (!node.valid() || bytes <= 0 || flops <= 0) return std::nullopt;
  const trace::GraphOp& op = trace.graph_ops[node.value];
  const auto elements = static_cast<double>(elements_in(op.shape));
  if (op.flops <= 0 || static_cast<double>(op.output_bytes) < kSingle * elements)
    return std::nullopt;
  // The graph has the largest batch, and an op may have several kernels. The kernel's share of the
  // op's bytes is taken to be its share of the flops.
  return flops / static_cast<double>(op.flops) * static_cast<double>(op.bytes) / bytes;
}

bool moves_activations(KernelFamily family) {
  return family == KernelFamily::kElementwise || family == KernelFamily::kActivation ||
         family == KernelFamily::kNormalisation || family == KernelFamily::kPooling ||
         family == KernelFamily::kLayoutTransform || family == KernelFamily::kFused ||
         family == KernelFamily::kSoftmax;
}

KernelBound bound_of(const Predictor& predictor, trace::DeviceOpId kernel, double flops_per_s) {
  const trace::Trace& trace = predictor.trace();
  const trace::DeviceOps& ops = trace.device_ops;
  const double rate =
      memory_bytes_per_ns(predictor, trace.streams[ops.stream[kernel.value].value].device);
  KernelBound bound;
  if (flops_per_s > 0)
    bound.arithmetic_ns = static_cast<double>(ops.flops[kernel.value]) / flops_per_s * 1e9;
  if (rate > 0) bound.memory_ns = static_cast<double>(ops.bytes[kernel.value]) / rate;
  return bound;
}

std::optional<DeviceLimits> limits_of_steps(const Predictor& predictor) {
  const Analysis& analysis = predictor.analysis();
  const std::size_t at = predictor.steps().partition;
  const trace::DeviceId device = analysis.partitions[at].device;
  if (!device.valid()) return std::nullopt;
  return limits_of(predictor.trace().devices[device.value], analysis.work[at].architecture);
}

ProductTime product_time(const Predictor& predictor) {
  ProductTime time;
  auto time_of = [&](auto&& counts) {
    return per_step(predictor, [&](trace::DeviceOpId op) {
      const KernelTraits traits = predictor.kernels().of(op);
      return is_matrix_work(traits.family) && counts(traits)
                 ? predictor.trace().device_ops.interval(op).length()
                 : DurationNs{};
    });
  };
  // On general cores, 16 bits are not faster than 32, so they do not count as half.
  auto on_matrix_units = [](const KernelTraits& traits) {
    return (is_half(traits.precision) || traits.precision == Precision::kInt8) &&
           traits.math_unit != trace::MathUnit::kGeneral;
  };
  time.all = time_of([](const KernelTraits&) { return true; });
  time.half = time_of(on_matrix_units);
  time.single = time_of([&](const KernelTraits& traits) {
    return traits.precision != Precision::kUnknown && !on_matrix_units(traits);
  });
  time.half_on_general = time_of([&](const KernelTraits& traits) {
    return is_half(traits.precision) && !on_matrix_units(traits);
  });
  return time;
}

}  // namespace headway::analyzer
