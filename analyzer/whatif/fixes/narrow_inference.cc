// SPDX-License-Identifier: MIT
// Inference in narrower numbers: 16 bits throughout, or products of 8-bit integers as in an
// inference engine, with the fusions of such an engine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least share of the products' time whose names must show a wider type.
constexpr double kMost = 0.5;
/// Only a run with test data shows whether 8 bits keep the accuracy. For nearly all networks of Wu
/// et al. (2020), calibration keeps it within one percent.
constexpr double kInt8Certainty = 0.95;

/// Bytes for quantising an operand, as a share of a product's bytes in 16 bits. Three of the four
/// products of a transformer's block read a value that no product made. These are a sixth of the
/// elements that the four move; they are read in 16 bits and written in 8.
constexpr double kQuantised = 0.25;

enum class Target { k16Bits, kInt8 };

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    default:
      return 0;  // already as narrow, or not known
  }
}

bool is_norm_of_channels(std::string_view name) {
  return name.find("batch_norm") != std::string_view::npos ||
         name.find("batchnorm") != std::string_view::npos ||
         name.find("bn_") != std::string_view::npos || name.find("_bn") != std::string_view::npos;
}

/// True for kernels between two convolutions that an engine folds into them: norms by channel into
/// the weights, the rest into epilogues.
bool is_folded(const Predictor& predictor, DeviceOpId op, const KernelTraits& traits) {
  switch (traits.family) {
    case KernelFamily::kNormalisation:
      return is_norm_of_channels(
          predictor.trace().strings[predictor.trace().device_ops.name[op.value]]);
    case KernelFamily::kElementwise:
    case KernelFamily::kActivation:
    case KernelFamily::kFused:
      return true;
    default:
      return false;
  }
}

/// Time of products in a step, by kind.
struct Products {
  DurationNs convolutions;
  DurationNs others;
  DurationNs wide;  ///< of both, in a type wider than the target
  bool any_wide_activations = false;

  DurationNs all() const { return convolutions + others; }
  bool of_images() const { return convolutions > others; }
};

Products products_of(const Predictor& predictor, double target_bytes) {
  Products products;
  auto sum = [&](auto&& counts) {
    return per_step(predictor, [&](DeviceOpId op) {
      const KernelTraits traits = predictor.kernels().of(op);
      return is_matrix_work(traits.family) && counts(traits)
                 ? predictor.trace().device_ops.interval(op).length()
                 : DurationNs{};
    });
  };
  products.convolutions =
      sum([](const KernelTraits& t) { return t.family == KernelFamily::kConvolution; });
  products.others =
      sum([](const KernelTraits& t) { return t.family != KernelFamily::kConvolution; });
  products.wide = sum([&](const KernelTraits& t) { return bytes_of(t.precision) > target_bytes; });
  return products;
}

class Narrowing {
 public:
  Narrowing(const Predictor& predictor, const DeviceLimits& limits, Target target)
      : predictor_(predictor),
        limits_(limits),
        int8_(target == Target::kInt8),
        least_(shortest_kernel(predictor.trace().device_ops)) {}

  /// New duration of the kernel.
  DurationNs time(DeviceOpId op) const {
    const KernelTraits traits = predictor_.kernels().of(op);
    const DurationNs now = predictor_.trace().device_ops.interval(op).length();
    if (now <= least_) return now;
    const auto own = static_cast<double>((now - least_).ns);
    // Attention stays in floating point, because a softmax lies between its products.
    const bool product = traits.family == KernelFamily::kGemm ||
                         traits.family == KernelFamily::kConvolution ||
                         traits.family == KernelFamily::kRecurrent;
    double left = own;
    if (product || traits.family == KernelFamily::kAttention)
      left = product_left(op, traits, own, int8_ && product);
    else if (moves_activations(traits.family) && bytes_of(traits.precision) != 2)
      left = own * bytes_left(op, 0.5);
    return std::min(now, least_ + DurationNs{std::llround(left)});
  }

 private:
  /// Remaining share of the time for bytes if the share `wanted` of them remains. If all blocks of
  /// a kernel start at once, fewer bytes save nothing.
  double bytes_left(DeviceOpId op, double wanted) const {
    const std::int64_t blocks = predictor_.trace().device_ops.blocks[op.value];
    if (blocks <= 1 || limits_.multiprocessors <= 0) return wanted;
    return std::clamp(static_cast<double>(limits_.multiprocessors) / static_cast<double>(blocks),
                      wanted, 1.0);
  }

  double product_left(DeviceOpId op, const KernelTraits& traits, double own, bool integers) const {
    const double now_bytes = bytes_of(traits.precision);
    if (now_bytes <= (integers ? 1 : 2)) return own;
    const double now = traits.math_unit == MathUnit::kTensor
                           ? limits_.peak_flops(MathUnit::kTensor, traits.precision)
                           : limits_.fp32_flops;
    const double then =
        limits_.peak_flops(MathUnit::kTensor, integers ? Precision::kInt8 : Precision::kFp16);
    if (now <= 0 || then <= 0) return own;
    // Convolutions pass on integers; the results of other products stay in 16 bits.
    const double bytes = !integers ? 2 : traits.family == KernelFamily::kConvolution ? 1 : 4.0 / 3;
    const double share = bytes / now_bytes;
    const double left = bytes_left(op, share);
    const double faster = then / now * share / left;
    const KernelBound bound = bound_of(predictor_, op, kMatrixShare * now);
    if (!bound.known()) return own * std::max(1 / (kShareOfPeaks * faster), left);
    // The larger bound is scaled from the kernel's own time; the other bound is at the rates of
    // large kernels.
    const double product = bound.arithmetic_ns >= bound.memory_ns
                               ? std::max(own / faster, bound.memory_ns * left)
                               : std::max(own * left, bound.arithmetic_ns / faster);
    if (!integers || traits.family == KernelFamily::kConvolution) return product;
    return product + static_cast<double>(least_.ns) + kQuantised * bound.memory_ns * 2 / now_bytes;
  }

  const Predictor& predictor_;
  const DeviceLimits& limits_;
  const bool int8_;
  const DurationNs least_;
};

/// Calls `visit` for the kernels of the forward pass only.
template <class Visit>
void for_each_kernel(const Predictor& predictor, const Visit& visit) {
  const Trace& trace = predictor.trace();
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i)
    if (trace.device_ops.kind[i] == DeviceOpKind::kKernel &&
        predictor.analysis().attribution.class_of[i] != TimeClass::kCommTransfer)
      visit(DeviceOpId{i});
}

/// Drops the kernels that an engine folds. Returns true if there were any.
bool fold(const Predictor& predictor, Editor& editor) {
  bool any = false;
  for_each_kernel(predictor, [&](DeviceOpId op) {
    if (!is_folded(predictor, op, predictor.kernels().of(op))) return;
    editor.drop_op(op);
    any = true;
  });
  return any;
}

std::string why_not(const Predictor& predictor, const std::optional<DeviceLimits>& limits) {
  if (!predictor.analysis().program.is_inference()) return "the program does no inference";
  if (!limits) return "the steps run on a host thread";
  if (limits->fp32_flops <= 0 || !limits->model) return "the device's peaks are unknown";
  return {};
}

Proposal propose(const Predictor& predictor, Target target) {
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (std::string why = why_not(predictor, limits); !why.empty()) return not_here(std::move(why));
  const bool int8 = target == Target::kInt8;
  const double peak =
      limits->peak_flops(MathUnit::kTensor, int8 ? Precision::kInt8 : Precision::kFp16);
  if (peak <= 0)
    return not_here(int8 ? "its matrix units do not support integers" : "it has no matrix units");
  const Products products = products_of(predictor, int8 ? 1 : 2);
  if (products.all().ns == 0) return not_here("no kernel is a known matrix product");
  if (ratio(products.wide, products.all()) < kMost)
    return not_here(int8 ? "by their names, kernels of types wider than INT8 take less than half "
                           "of the matrix time"
                         : "by their names, kernels of types wider than 16 bits take less than "
                           "half of the matrix "
                           "time");
  Editor editor(predictor);
  const Narrowing narrowing(predictor, *limits, target);
  // An integer engine also folds and fuses the kernels that it quantises.
  const bool folded = int8 && products.of_images() && fold(predictor, editor);
  for_each_kernel(predictor, [&](DeviceOpId op) {
    const KernelTraits traits = predictor.kernels().of(op);
    if (folded && is_folded(predictor, op, traits)) return;
    const bool casts = traits.family == KernelFamily::kCast;
    const DurationNs now = predictor.trace().device_ops.interval(op).length();
    if (const DurationNs then = narrowing.time(op); !casts && then < now)
      editor.set_op(op, then, true);
  });
  if (editor.empty()) return not_here("no kernel would get shorter");
  const std::string_view type = int8 ? "INT8" : limits->bf16 ? "BF16" : "FP16";
  Proposal proposal{
      true,
      fmt::format("{} of matrix kernels per step run in {} on {}{}", format_duration(products.wide),
                  type, limits->model->id,
                  folded ? "; norms, sums and activations merge into convolutions" : ""),
      editor.take()};
  proposal.setting = int8           ? "--infer-precision int8"
                     : limits->bf16 ? "--infer-precision bf16"
                                    : "--infer-precision fp16";
  if (folded) proposal.setting += " --fold-bn on --fused-epilogue on";
  if (int8) proposal.certainty = kInt8Certainty;
  return proposal;
}

Proposal propose_16_bits(const Predictor& predictor) {
  return propose(predictor, Target::k16Bits);
}
Proposal propose_int8(const Predictor& predictor) {
  return propose(predictor, Target::kInt8);
}

Proposal propose_engine(const Predictor& predictor) {
  if (!predictor.analysis().program.is_inference())
    return not_here("the program does no inference");
  if (!products_of(predictor, 0).of_images()) return not_here("most products are not convolutions");
  Editor editor(predictor);
  if (!fold(predictor, editor)) return not_here("no kernel runs between its convolutions");
  return {true,
          "norms fold into the weights; sums and activations merge into preceding convolutions",
          editor.take(), "--fold-bn on --fused-epilogue on"};
}

}  // namespace

const Fix kInferIn16Bits{"infer-in-16-bits",
                         "Infer in 16 bits",
                         "inference-precision, no-tensor-cores, full-precision",
                         FixKind::kModelled,
                         0.25,
                         "--infer-precision fp16",
                         "An arithmetic-bound product scales with the peaks of the two types, a "
                         "memory-bound one with their bytes, each down to the other bound. "
                         "Activation kernels halve. The shortest kernel's time is fixed.",
                         "accuracy in 16 bits",
                         propose_16_bits};

const Fix kInferInInt8{"infer-in-int8",
                       "Infer in INT8 with calibrated scales",
                       "inference-precision",
                       FixKind::kModelled,
                       0.25,
                       "--infer-precision int8",
                       "Same as infer-in-16-bits, for 8-bit integers: convolutions move a quarter "
                       "of the FP32 bytes, other products a third, because their results stay in "
                       "16 bits. An engine folds and fuses norms, sums and activations between "
                       "convolutions. Attention and other work between products runs in 16 bits.",
                       "accuracy in 8 bits, and quantisation kernels",
                       propose_int8};

const Fix kInferenceEngine{
    "inference-engine",
    "Fold norms and fuse epilogues into convolutions",
    "unfused-elementwise",
    FixKind::kModelled,
    0.25,
    "--fold-bn on",
    "Kernels between convolutions disappear: batch norms fold into weights, sums and activations "
    "into the convolution kernels, which keep their time.",
    "the cost of reading the residual in the convolution",
    propose_engine};

}  // namespace headway::analyzer
