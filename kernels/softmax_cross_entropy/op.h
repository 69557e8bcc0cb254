// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Cross entropy of softmax(logits) against class labels, with the usual training figures. logits
/// [rows][classes], labels [rows] in [0, classes); a row with a negative label does not count
/// (padding of a last batch).
///   probability = exp(logit - max) / sum exp(logit - max)
///   loss = mean over counted rows of -log probability[label];  correct = rows whose largest logit
///   is the label's (the first of equals); counted = rows that count
/// Sums in double. A label >= classes violates an invariant.
struct SoftmaxCrossEntropyShape {
  std::int64_t rows = 0;
  int classes = 0;
};
struct LossFigures {
  float loss = 0;
  float correct = 0;
  float counted = 0;
};

void softmax_cross_entropy_forward(SoftmaxCrossEntropyShape shape, const float* logits,
                                   const std::int32_t* labels, float* probabilities,
                                   LossFigures* figures);
/// dlogits = scale · (probability - [class is label]) / counted rows, 0 in rows that do not count.
/// `scale` is the loss scale of mixed precision, else 1.
void softmax_cross_entropy_backward(SoftmaxCrossEntropyShape shape, const float* probabilities,
                                    const std::int32_t* labels, float* dlogits, float scale = 1);

/// The second half of the loss in two ops: the same figures from the log probabilities
/// (kernels/softmax/op.h), and their gradient, -scale / counted rows at labels.
void nll_loss_forward(SoftmaxCrossEntropyShape shape, const float* log_probabilities,
                      const std::int32_t* labels, LossFigures* figures);
void nll_loss_backward(SoftmaxCrossEntropyShape shape, const std::int32_t* labels, float* dx,
                       float scale = 1);

constexpr Work softmax_cross_entropy_forward_work(SoftmaxCrossEntropyShape s) {
  return {5 * s.rows * s.classes, s.rows * (8 * s.classes + 4)};
}
constexpr Work softmax_cross_entropy_backward_work(SoftmaxCrossEntropyShape s) {
  return {2 * s.rows * s.classes, s.rows * (8 * s.classes + 4)};
}

}  // namespace headway::kernels
