// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/softmax_cross_entropy/op.h"
#include "kernels/work.h"

namespace headway::kernels {

/// The loss of a detector over default boxes ("anchors"), as in SSD (Liu et al., 2016):
///   loss = (sum over picked anchors of -log p[label] + sum over positive ones of L(offsets - targets)) / P
/// where P is the number of positive anchors in the batch, L(d) the sum over the four offsets of
/// d²/2 where |d| < 1 and |d| - 1/2 elsewhere (smooth L1), and picked are the positive anchors and, image by
/// image, three times as many negative ones, those with the lowest background probability.
/// Rows are anchors, image by image. labels: the class, 0 background, negative: does not count.
struct MultiboxShape {
  std::int64_t images = 0;
  std::int64_t anchors = 0;  ///< per image
  int classes = 0;           ///< background included
  constexpr std::int64_t rows() const { return images * anchors; }
};

/// How many negative anchors are picked for each positive one.
inline constexpr std::int64_t kNegativesPerPositive = 3;
/// The value of background_losses in rows that are not negative.
inline constexpr float kPositiveRow = -1;
inline constexpr float kUncountedRow = -2;

/// losses [rows]: -log p[0] of negative rows, from the log probabilities [rows][classes].
void background_losses(const MultiboxShape& shape, const float* log_probabilities,
                       const std::int32_t* labels, float* losses);

/// picked [rows]: 1 for positive rows and for the negative rows with the largest losses, the first
/// of equal ones; fewer negatives where there are not enough.
void pick_hard_negatives(const MultiboxShape& shape, const float* losses, std::uint8_t* picked);

/// rows [count]: the indices of the picked rows, in order, then -1.
void compact(std::int64_t count, const std::uint8_t* picked, std::int32_t* rows);

/// The loss over `rows`, the list of compact(). The figures `correct` and `counted` refer to the
/// positive anchors. Sums in double.
void multibox_loss_forward(const MultiboxShape& shape, const float* log_probabilities,
                           const std::int32_t* labels, const float* offsets, const float* targets,
                           const std::int32_t* rows, LossFigures* figures);
/// Gradients, multiplied by `scale` (the loss scale of mixed precision): of the log probabilities
/// [rows][classes] and of the offsets [rows][4]; 0 in rows that are not listed.
void multibox_loss_backward(const MultiboxShape& shape, const std::int32_t* labels,
                            const float* offsets, const float* targets, const std::int32_t* rows,
                            float* dlog_probabilities, float* doffsets, float scale = 1);

constexpr Work background_losses_work(const MultiboxShape& s) {
  return {s.rows(), 12 * s.rows()};
}
/// A device finds the threshold in two passes: exponents first, then the remaining bits.
constexpr Work pick_hard_negatives_work(const MultiboxShape& s) {
  return {4 * s.rows(), 9 * s.rows()};
}
constexpr Work compact_work(std::int64_t count) {
  return {count, 5 * count};
}
constexpr Work multibox_loss_forward_work(const MultiboxShape& s) {
  return {12 * s.rows(), s.rows() * (4 * s.classes + 40)};
}
constexpr Work multibox_loss_backward_work(const MultiboxShape& s) {
  return {8 * s.rows(), s.rows() * (4 * s.classes + 56)};
}

}  // namespace headway::kernels
