// SPDX-License-Identifier: MIT
// Activations and products in 16 bits: half the bytes for what passes through memory, and the faster rate of the
// matrix units.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/evidence/pipeline.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/fixes/loss_scaling.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/layer_transit.h"
#include "analyzer/whatif/small_products.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Up to this share of the products' time in half precision is an exception (a loss, a separate
/// library).
constexpr double kFew = 0.1;
/// Least share of the products' time that must be known to be in 32 bits; names may not show the
/// type.
constexpr double kMost = 0.5;

/// How much shorter 16 bits make each kernel.
class Halving {
 public:
  /// `stored`: activations already have 16 bits, so only products change: they move to the matrix
  /// units.
  Halving(const Predictor& predictor, const DeviceLimits& limits, bool stored)
      : predictor_(predictor),
        limits_(limits),
        stored_(stored),
        half_(limits.peak_flops(MathUnit::kTensor, Precision::kBf16)),
        small_(predictor, limits.multiprocessors, [this](DeviceOpId op) {
          return kMatrixShare * rate_of(predictor_.kernels().of(op));
        }) {}

  Halving(const Halving&) = delete;
  Halving& operator=(const Halving&) = delete;

  const SmallProducts& small() const { return small_; }

  /// Remaining share of the kernel's time beyond the shortest kernel's; 1: unchanged.
  double share_left(DeviceOpId op, SmallProduct held_by) const {
    const KernelTraits traits = predictor_.kernels().of(op);
    const bool matrix = is_matrix_work(traits.family);
    const bool half = is_half(traits.precision);
    if (half && matrix && traits.math_unit == MathUnit::kTensor) return in_halves(op, held_by);
    if (half && !matrix) return 1;
    if (stored_ && !half) return 1;
    const double now = matrix ? rate_of(traits) : limits_.fp32_flops;
    const double bytes =
        half ? 1 : share_with_bytes(predictor_, op, limits_.multiprocessors, kBytes);
    // A product that does not fill the device also waits for latency, which 16 bits do not shorten.
    if (matrix) {
      const double each = half ? 1 : bytes_of_block(bytes, held_by);
      return small_.share_left(op, half_ / now * (half ? 1 : kBytes / each), each, held_by)
          .value_or(now / (kShareOfPeaks * half_));
    }
    const KernelBound bound = bound_of(predictor_, op, kMatrixShare * now);
    // A softmax's probabilities stay in 32 bits: only half of its bytes shrink.
    if (traits.family == KernelFamily::kSoftmax) return std::midpoint(1.0, bytes);
    if (moves_activations(traits.family)) return bytes;
    // A kernel with an unknown name is judged by its counted bytes.
    return traits.family == KernelFamily::kUnknown && bound.known() &&
                   bound.memory_ns > bound.arithmetic_ns
               ? bytes
               : 1;
  }

 private:
  static constexpr double kBytes = 0.5;

  /// Remaining share of the bytes of a product in 16 bits: with casts between products, it may
  /// still read or write 32 bits.
  double in_halves(DeviceOpId op, SmallProduct held_by) const {
    const std::optional<double> single = single_precision_bytes(predictor_, op);
    if (!single) return 1;
    const double bytes = std::clamp(kBytes * *single, kBytes, 1.0);
    return std::min(1.0, small_.share_left(op, 1, bytes, held_by).value_or(1));
  }

  /// Remaining bytes of a block of a product that does not fill the device. With half the bytes,
  /// there are either half as many blocks, which saves nothing, or as many blocks with half the
  /// bytes, depending on the tiles.
  static double bytes_of_block(double if_fewer_blocks, SmallProduct held_by) {
    switch (held_by) {
      case SmallProduct::kLatency:
        return if_fewer_blocks;
      case SmallProduct::kArithmetic:
        return kBytes;
      case SmallProduct::kEither:
        break;
    }
    return std::midpoint(if_fewer_blocks, kBytes);
  }

  double rate_of(const KernelTraits& traits) const {
    if (traits.math_unit != MathUnit::kTensor) return limits_.fp32_flops;
    // The peak of this type, where it is known: on some cards TF32 is no faster than FP32.
    const double known = limits_.peak_flops(traits.math_unit, traits.precision);
    return known > 0 ? known : limits_.easy_tensor_flops;
  }

  const Predictor& predictor_;
  const DeviceLimits& limits_;
  bool stored_;
  double half_;
  SmallProducts small_;
};

/// Shortens kernels to their time in 16 bits and drops casts.
Editor halve(const Predictor& predictor, const Halving& halving, SmallProduct held_by) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const DurationNs least = shortest_kernel(ops);
  Editor editor(predictor);
  for_each_kernel_of_passes(predictor, [&](DeviceOpId op) {
    if (predictor.kernels().of(op).family == KernelFamily::kCast) {
      editor.drop_op(op);
      return;
    }
    const double left = std::min(1.0, halving.share_left(op, held_by));
    const DurationNs now = ops.interval(op).length();
    if (left >= 1 || now <= least) return;
    editor.set_op(
        op, least + DurationNs{std::llround(left * static_cast<double>((now - least).ns))}, true);
  });
  return editor;
}

Proposal propose(const Predictor& predictor, bool mixed) {
  if (predictor.analysis().program.is_inference())
    return not_here("the program does inference: see infer-in-16-bits");
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  if (limits->peak_flops(MathUnit::kTensor, Precision::kBf16) <= 0 || limits->fp32_flops <= 0)
    return not_here("the device's peaks are unknown");
  const ProductTime products = product_time(predictor);
  if (products.all.ns == 0) return not_here("no kernel is a known matrix product");
  const bool half = ratio(products.half, products.all) > kFew;
  if (mixed && !half) return not_here("matrix products do not run in half precision");
  if (mixed && !is_mixed(predictor)) return not_here("few casts run between products");
  if (!mixed && half) return not_here("matrix products already run in half precision");
  if (!mixed && ratio(products.single, products.all) < kMost)
    return not_here("most matrix kernel names do not show 32 bits");
  const bool stored = ratio(products.half_on_general, products.all) >= kMost;
  const Halving halving(predictor, *limits, stored);
  LayerTransit travel;
  auto halved = [&](SmallProduct held_by, BytesTake take = BytesTake::kLikely) {
    Editor editor = halve(predictor, halving, held_by);
    if (!stored) travel = scale_layer_transit(predictor, 0.5, take, editor);
    // BF16 has the range of FP32 and needs no loss scaling.
    if (limits->bf16) drop_loss_scaling(predictor.trace(), editor);
    const bool any = !editor.empty();
    // Autocast computes gradients of parameters in the parameters' own type.
    const bool autocast = !mixed && predictor.analysis().program.uses(Framework::kPyTorch);
    const bool gradients = any && !stored && !autocast;
    if (any && !limits->bf16 && !half)
      add_loss_scaling(predictor, gradients, editor);
    else if (gradients)
      halve_gradients(predictor, editor);
    return std::pair(any, editor.take());
  };
  auto [any, likely] = halved(SmallProduct::kEither);
  std::vector<Scenario> otherwise;
  if (!mixed)  // products that are already in 16 bits stay
    for (const SmallProduct held_by : halving.small().ends())
      otherwise.push_back(halved(held_by).second);
  if (!any) return not_here("no kernel would get shorter");
  if (passes_messages(predictor.trace())) {
    for (const BytesTake take : {BytesTake::kLeast, BytesTake::kMost})
      otherwise.push_back(halved(SmallProduct::kEither, take).second);
  }
  const std::string_view type = limits->bf16 ? "BF16" : "FP16";
  const std::string_view in_transit =
      travel.shards        ? ", as do shared parameters and their gradients in transit"
      : travel.activations ? ", in transit between ranks, too"
                           : "";
  Proposal proposal{
      true,
      mixed ? fmt::format("activations between products take half the bytes in {}, without casts{}",
                          type, in_transit)
      : stored
          ? fmt::format(
                "{} of matrix kernels per step run in {} on matrix units, which lack BF16 on {}",
                format_duration(products.half_on_general), type, limits->model->id)
          : fmt::format(
                "{} of matrix kernels per step run in {} on {}; activations take half the bytes{}",
                format_duration(products.all), type, limits->model->id, in_transit),
      std::move(likely)};
  proposal.otherwise = std::move(otherwise);
  proposal.setting = limits->bf16 ? "--precision bf16" : "--precision amp-o2";
  return proposal;
}

Proposal propose_half(const Predictor& predictor) {
  return propose(predictor, false);
}

Proposal propose_throughout(const Predictor& predictor) {
  return propose(predictor, true);
}

}  // namespace

bool is_mixed(const Predictor& predictor) {
  /// A program entirely in 16 bits still casts its input and its loss, there and back.
  constexpr std::int64_t kAtItsEnds = 4;
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  std::int64_t casts = 0;
  for_each_steady_op(predictor.trace(), predictor.analysis().steps, partition,
                     [&](const DeviceStep&, DeviceOpId op) {
                       casts += predictor.kernels().of(op).family == KernelFamily::kCast;
                     });
  return casts > kAtItsEnds * partition.steady_steps;
}

const Fix kHalfPrecision{
    "half-precision",
    "Compute in 16 bits",
    "full-precision, no-tensor-cores",
    FixKind::kModelled,
    0.4,
    "--precision bf16",
    "A matrix kernel takes the longer of its arithmetic at the 16-bit matrix rate and half its "
    "bytes, or its time by 0.7 × the ratio of the peaks if the recording has no counts. Half the "
    "bytes are half the blocks, so a partial wave costs more. Activation "
    "kernels halve, softmax drops to three quarters, casts disappear. Gradient exchange stays, but "
    "shared parameters and stage activations travel in 16 bits. An update in several passes moves "
    "8 % less, except with PyTorch's autocast. Without BF16, each parameter update gains an "
    "unscale kernel.",
    "training quality in 16 bits",
    propose_half};

const Fix kHalfThroughout{
    "half-throughout",
    "Keep activations between products in 16 bits, too",
    "amp-casts",
    FixKind::kModelled,
    0.4,
    "--precision bf16",
    "Casts disappear. Activation kernels halve and softmax drops to three quarters, unless named "
    "as 16-bit. BF16 needs no loss scaling; without it, unscaling halves. An update in several "
    "passes moves 8 % less. A product moves half of what the op graph counts in 32 bits. Gradient "
    "exchange stays, but shared parameters travel in 16 bits.",
    "training quality with 16-bit norms and losses",
    propose_throughout};

}  // namespace headway::analyzer
