// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr const char* kImage = "softmax_cross_entropy";

Launch row_kernel(const Limits& limits, NumberFormat format,
                  const SoftmaxCrossEntropyParameters& by, SoftmaxVariant variant) {
  const int classes = by.shape.classes;
  const bool naive = variant == SoftmaxVariant::kNaive || classes > 8192;
  const bool warp = !naive && classes <= 1024;
  const char* base = naive  ? "softmax_loss_naive"
                     : warp ? "softmax_loss_warp"
                            : "softmax_loss_block";
  return make_launch(kImage, kernel_name(base, format),
                     {blocks_for(by.shape.rows, warp ? kThreads / 32 : 1, limits)}, kThreads, by);
}

SoftmaxCrossEntropyParameters checked(NumberFormat format, SoftmaxCrossEntropyShape shape,
                                      const SoftmaxCrossEntropyArrays& a) {
  require_flat(kImage, NumberFormat::kFloat32, shape.rows * shape.classes, a.labels, a.scratch);
  const auto bytes = static_cast<std::size_t>(bits_of(format)) / 8;
  for (const void* array :
       {a.logits, static_cast<const void*>(a.probabilities), static_cast<const void*>(a.dlogits)})
    if (array) require_aligned(array, bytes, kImage, "an array");
  return {shape, a, shape.classes % 8 == 0 && all_packed(a.logits, a.probabilities, a.dlogits)};
}

}  // namespace

Launches softmax_cross_entropy(const Limits& limits, NumberFormat format,
                               SoftmaxCrossEntropyShape shape, const SoftmaxCrossEntropyArrays& a,
                               SoftmaxVariant variant) {
  const SoftmaxCrossEntropyParameters by = checked(format, shape, a);
  require_flat(kImage, format, 1, a.logits);
  require_flat(kImage, NumberFormat::kFloat32, 1, a.figures);
  return {make_launch(kImage, "loss_count", {}, kThreads, by),
          row_kernel(limits, format, by, variant),
          make_launch(kImage, "loss_figures", {}, kThreads, by)};
}

Launches softmax_cross_entropy_backward(const Limits& limits, NumberFormat format,
                                        SoftmaxCrossEntropyShape shape,
                                        const SoftmaxCrossEntropyArrays& a) {
  const SoftmaxCrossEntropyParameters by = checked(format, shape, a);
  require_flat(kImage, format, 1, a.probabilities, a.dlogits);
  return {make_launch(kImage, "loss_count", {}, kThreads, by),
          make_launch(kImage, kernel_name("softmax_loss_backward", format),
                      {blocks_for(shape.rows, kThreads / 32, limits)}, kThreads, by)};
}

Launches nll_loss_forward(const Limits& limits, NumberFormat format, SoftmaxCrossEntropyShape shape,
                          const SoftmaxCrossEntropyArrays& a) {
  const SoftmaxCrossEntropyParameters by = checked(format, shape, a);
  require_flat(kImage, format, 1, a.logits);
  require_flat(kImage, NumberFormat::kFloat32, 1, a.figures);
  return {make_launch(kImage, "loss_count", {}, kThreads, by),
          make_launch(kImage, kernel_name("nll_rows", format),
                      {blocks_for(shape.rows, kThreads / 32, limits)}, kThreads, by),
          make_launch(kImage, "loss_figures", {}, kThreads, by)};
}

Launches nll_loss_backward(const Limits& limits, NumberFormat format,
                           SoftmaxCrossEntropyShape shape, const SoftmaxCrossEntropyArrays& a) {
  const SoftmaxCrossEntropyParameters by = checked(format, shape, a);
  require_flat(kImage, format, 1, a.dlogits);
  return {make_launch(kImage, "loss_count", {}, kThreads, by),
          make_launch(kImage, kernel_name("nll_backward", format),
                      {blocks_for(shape.rows * shape.classes, kThreads, limits)}, kThreads, by)};
}

}  // namespace headway::kernels::cuda
