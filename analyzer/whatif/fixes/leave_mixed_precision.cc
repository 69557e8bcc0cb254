// SPDX-License-Identifier: MIT
// Nothing runs in 16 bits: no casts and no scaled loss. Products and what passes activations take what 32 bits take.
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
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Of the products, so much in half precision is an exception.
constexpr double kFew = 0.1;
/// A program in 16 bits throughout casts its input and its loss, there and back.
constexpr std::int64_t kFewKernels = 5;
constexpr double kBytes = 2;
/// Of what a softmax reads and writes, probabilities are in 32 bits already.
constexpr double kSoftmaxBytes = 1.5;

class Widening {
 public:
  Widening(const Predictor& predictor, const DeviceLimits& limits)
      : predictor_(predictor),
        limits_(limits),
        half_(limits.peak_flops(MathUnit::kTensor, Precision::kBf16)),
        single_(
            std::max(limits.fp32_flops, limits.peak_flops(MathUnit::kTensor, Precision::kTf32))) {}

  bool known() const { return half_ > 0 && single_ > 0; }

  /// What the kernel takes, beyond what any kernel takes, where that is `working` ns now. `unnamed`: kernels whose names say no
  /// type have 16 bits now.
  double working(DeviceOpId op, double working, SmallProduct held_by, bool unnamed) const {
    const KernelTraits traits = predictor_.kernels().of(op);
    const bool matrix = is_matrix_work(traits.family);
    const bool half = is_half(traits.precision) ||
                      (unnamed && !matrix && traits.precision == Precision::kUnknown);
    if (!half) return working;
    if (matrix)
      return working + longer(op,
                              traits.math_unit == MathUnit::kTensor ? half_ : limits_.fp32_flops,
                              working, held_by);
    if (traits.family == KernelFamily::kSoftmax) return kSoftmaxBytes * working;
    return moves_activations(traits.family) ? kBytes * working : working;
  }

 private:
  /// By how many ns arithmetic and bytes need more. A small product waits for latency mostly, which stays; or each of its
  /// blocks computes as long as if all multiprocessors had one.
  double longer(DeviceOpId op, double now, double working, SmallProduct held_by) const {
    if (held_by == SmallProduct::kEither)
      return std::midpoint(longer(op, now, working, SmallProduct::kLatency),
                           longer(op, now, working, SmallProduct::kArithmetic));
    const KernelBound bound = bound_of(predictor_, op, kMatrixShare * now);
    if (!bound.known())
      return held_by == SmallProduct::kLatency ? 0 : working * (now / single_ - 1);
    const double before = std::max(bound.arithmetic_ns, bound.memory_ns);
    const double after = std::max(bound.arithmetic_ns * now / single_, bound.memory_ns * kBytes);
    const std::int64_t blocks = predictor_.trace().device_ops.blocks[op.value];
    const double filled = static_cast<double>(blocks) / limits_.multiprocessors;
    // One that fills the device is as far from its bound then as it is now.
    if (filled >= 1) return std::max(0.0, working * (after / before - 1));
    const bool alone = held_by == SmallProduct::kArithmetic && blocks > 0;
    return std::max(0.0, after - before) / (alone ? filled : 1);
  }

  const Predictor& predictor_;
  const DeviceLimits& limits_;
  double half_;
  double single_;
};

struct Widened {
  Scenario scenario;
  std::int64_t saved = 0;  ///< kernels that are not launched
};

Widened widen(const Predictor& predictor, const DeviceLimits& limits, SmallProduct held_by,
              bool unnamed) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  const DurationNs least = shortest_kernel(trace.device_ops);
  const Widening widening(predictor, limits);
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
  widened.scenario = editor.take();
  return widened;
}

Proposal propose(const Predictor& predictor) {
  if (predictor.analysis().program.is_inference()) return not_here("the program does inference");
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  if (!Widening(predictor, *limits).known()) return not_here("the device's peaks are unknown");
  const ProductTime products = product_time(predictor);
  if (products.all.ns == 0) return not_here("no kernel is a known matrix product");
  if (ratio(products.half, products.all) <= kFew)
    return not_here("matrix products do not run in half precision");
  // With casts between products what lies there is in 32 bits already.
  const bool unnamed = !is_mixed(predictor);
  Widened likely = widen(predictor, *limits, SmallProduct::kEither, unnamed);
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
  proposal.otherwise.push_back(widen(predictor, *limits, SmallProduct::kLatency, false).scenario);
  proposal.otherwise.push_back(widen(predictor, *limits, SmallProduct::kArithmetic, true).scenario);
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
    "double. 16-bit activation kernels take twice as long, softmax 1.5 times. Update and gradient "
    "exchange stay.",
    "whether activations in 32 bits fit into memory",
    propose};

}  // namespace headway::analyzer
