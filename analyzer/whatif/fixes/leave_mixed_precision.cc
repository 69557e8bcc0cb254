// SPDX-License-Identifier: MIT
// Nothing runs in 16 bits: no casts and no loss scaling. Products and kernels that move
// activations take the time of 32 bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

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

/// Up to this share of the products' time in half precision is an exception.
constexpr double kFew = 0.1;
/// A program entirely in 16 bits still casts its input and its loss, there and back.
constexpr std::int64_t kFewKernels = 5;
constexpr double kBytes = 2;
/// Growth of a softmax's bytes: its probabilities already are in 32 bits.
constexpr double kSoftmaxBytes = 1.5;

class Widening {
 public:
  Widening(const Predictor& predictor, const DeviceLimits& limits)
      : predictor_(predictor),
        limits_(limits),
        half_(limits.peak_flops(MathUnit::kTensor, Precision::kBf16)),
        single_(
            std::max(limits.fp32_flops, limits.peak_flops(MathUnit::kTensor, Precision::kTf32))),
        small_(predictor, limits.multiprocessors, [this](DeviceOpId op) {
          return kMatrixShare * rate_of(predictor_.kernels().of(op));
        }) {}

  Widening(const Widening&) = delete;
  Widening& operator=(const Widening&) = delete;

  bool known() const { return half_ > 0 && single_ > 0; }

  /// New time in ns of a kernel beyond the shortest kernel's; `working`: that time now. `unnamed`:
  /// kernels whose names show no type have 16 bits now.
  double working(DeviceOpId op, double working, SmallProduct held_by, bool unnamed) const {
    const KernelTraits traits = predictor_.kernels().of(op);
    const bool matrix = is_matrix_work(traits.family);
    const bool half = is_half(traits.precision) ||
                      (unnamed && !matrix && traits.precision == Precision::kUnknown);
    if (!half) return working;
    if (matrix) return working * times(op, rate_of(traits), held_by);
    if (!moves_activations(traits.family)) return working;
    const double bytes = traits.family == KernelFamily::kSoftmax ? kSoftmaxBytes : kBytes;
    return working * share_with_bytes(predictor_, op, limits_.multiprocessors, bytes);
  }

 private:
  double rate_of(const KernelTraits& traits) const {
    return traits.math_unit == MathUnit::kTensor ? half_ : limits_.fp32_flops;
  }

  /// Factor on a product's time. If its arithmetic is not known, part of the time may be latency,
  /// which stays.
  double times(DeviceOpId op, double now, SmallProduct held_by) const {
    // Some operands or results may already have 32 bits, because the next op needs them so.
    const double bytes =
        std::clamp(single_precision_bytes(predictor_, op).value_or(kBytes), 1.0, kBytes);
    const double each = held_by == SmallProduct::kArithmetic
                            ? bytes
                            : share_with_bytes(predictor_, op, limits_.multiprocessors, bytes);
    const std::optional<double> left =
        small_.share_left(op, single_ / now * (bytes / each), each, held_by);
    if (left) return std::max(1.0, *left);
    if (held_by == SmallProduct::kLatency) return 1;
    return held_by == SmallProduct::kArithmetic ? now / single_ : std::midpoint(1.0, now / single_);
  }

  const Predictor& predictor_;
  const DeviceLimits& limits_;
  double half_;
  double single_;
  SmallProducts small_;
};

struct Widened {
  Scenario scenario;
  std::int64_t saved = 0;  ///< kernels that are not launched
};

Widened widen(const Predictor& predictor, const Widening& widening, SmallProduct held_by,
              bool unnamed) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  const DurationNs least = shortest_kernel(trace.device_ops);
  Editor editor(predictor);
  Widened widened;
  for_each_kernel_of_passes(predictor, [&](DeviceOpId op) {
    if (predictor.kernels().of(op).family == KernelFamily::kCast) {
      editor.drop_op(op);
      ++widened.saved;
      return;
    }
    const DurationNs now = trace.device_ops.interval(op).length();
    if (now <= least) return;
    const auto working = static_cast<double>((now - least).ns);
    const double then = widening.working(op, working, held_by, unnamed);
    if (then != working)
      editor.set_duration(points.task(op), least + DurationNs{std::llround(then)}, true);
  });
  widened.saved += drop_loss_scaling(trace, editor);
  scale_layer_transit(predictor, kBytes, BytesTake::kLikely, editor);
  widened.scenario = editor.take();
  return widened;
}

Proposal propose(const Predictor& predictor) {
  if (predictor.analysis().program.is_inference()) return not_here("the program does inference");
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  const Widening widening(predictor, *limits);
  if (!widening.known()) return not_here("the device's peaks are unknown");
  const ProductTime products = product_time(predictor);
  if (products.all.ns == 0) return not_here("no kernel is a known matrix product");
  if (ratio(products.half, products.all) <= kFew)
    return not_here("matrix products do not run in half precision");
  // With casts between products, the kernels there already work in 32 bits.
  const bool unnamed = !is_mixed(predictor);
  Widened likely = widen(predictor, widening, SmallProduct::kEither, unnamed);
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.analysis().steps.all.size()));
  if (likely.saved < kFewKernels * steps)
    return not_here("few kernels of a step cast or scale the loss");
  Proposal proposal{
      true,
      fmt::format(
          "saves {} kernels per step that cast or scale the loss; products compute in 32 bits",
          format_count((likely.saved + steps / 2) / steps)),
      std::move(likely.scenario)};
  proposal.otherwise.push_back(widen(predictor, widening, SmallProduct::kLatency, false).scenario);
  proposal.otherwise.push_back(
      widen(predictor, widening, SmallProduct::kArithmetic, true).scenario);
  return proposal;
}

}  // namespace

const Fix kLeaveMixedPrecision{
    "leave-mixed-precision",
    "Compute in 32 bits, without casts",
    "amp-casts",
    FixKind::kModelled,
    0.4,
    "--precision tf32",
    "Casts and the scaling of the loss disappear, launches included. A 16-bit matrix kernel takes "
    "longer: its arithmetic runs at the 32-bit rate (TF32 where the device has it), and its bytes "
    "double, or become what the op graph counts in 32 bits. 16-bit activation kernels move twice "
    "the bytes, softmax 1.5 times. Update and gradient exchange stay, but shared parameters and "
    "stage activations in 16 bits travel with twice the bytes.",
    "whether activations in 32 bits fit into memory",
    propose};

}  // namespace headway::analyzer
