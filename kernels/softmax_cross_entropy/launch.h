// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/softmax_cross_entropy/op.h"

namespace headway::kernels::cuda {

/// Softmax cross entropy (kernels/softmax_cross_entropy/op.h), with its gradient in the same pass.
/// Only results whose pointers are not null are computed.
struct SoftmaxCrossEntropyArrays {
  const void* logits = nullptr;
  const std::int32_t* labels = nullptr;
  void* probabilities = nullptr;  ///< may be null
  void* dlogits = nullptr;        ///< may be null, may be `logits`
  LossFigures* figures = nullptr;
  const float* state = nullptr;  ///< OptimizerState with the loss scale of dlogits; null: 1
  float* scratch = nullptr;      ///< softmax_cross_entropy_scratch_floats
};
constexpr std::int64_t softmax_cross_entropy_scratch_floats(SoftmaxCrossEntropyShape shape) {
  return 2 * shape.rows + 1;
}
enum class SoftmaxVariant {
  kBest,   ///< row in registers of a warp up to 1024 classes, of a block up to 8192; else kNaive
  kNaive,  ///< a block per row, which reads the row for every sum; any width
};

struct SoftmaxCrossEntropyParameters {
  SoftmaxCrossEntropyShape shape;
  SoftmaxCrossEntropyArrays arrays;
  bool packed;
};

Launches softmax_cross_entropy(const Limits& limits, NumberFormat format,
                               SoftmaxCrossEntropyShape shape,
                               const SoftmaxCrossEntropyArrays& arrays,
                               SoftmaxVariant variant = SoftmaxVariant::kBest);
/// The gradient from stored probabilities: reads them once more.
Launches softmax_cross_entropy_backward(const Limits& limits, NumberFormat format,
                                        SoftmaxCrossEntropyShape shape,
                                        const SoftmaxCrossEntropyArrays& arrays);

/// The second half of a loss in two ops: figures from the log probabilities (`logits`) that
/// log_softmax computed, and their gradient, -scale / counted rows at labels (`dlogits`).
Launches nll_loss_forward(const Limits& limits, NumberFormat format, SoftmaxCrossEntropyShape shape,
                          const SoftmaxCrossEntropyArrays& arrays);
Launches nll_loss_backward(const Limits& limits, NumberFormat format,
                           SoftmaxCrossEntropyShape shape, const SoftmaxCrossEntropyArrays& arrays);

}  // namespace headway::kernels::cuda
