// SPDX-License-Identifier: MIT
#include "kernels/multibox/op.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/error.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

double smooth_l1(double difference) {
  const double size = std::abs(difference);
  return size < 1 ? size * size / 2 : size - 0.5;
}

/// Sets `picked` for one image: its positive anchors and its negative anchors with the largest losses.
/// `negatives` is scratch memory.
void pick_in_image(std::int64_t anchors, const float* losses, std::uint8_t* picked,
                   std::vector<std::int64_t>& negatives) {
  negatives.clear();
  std::int64_t positives = 0;
  for (std::int64_t i = 0; i < anchors; ++i) {
    picked[i] = losses[i] == kPositiveRow;
    positives += picked[i];
    if (losses[i] >= 0) negatives.push_back(i);
  }
  const auto wanted = static_cast<std::size_t>(kNegativesPerPositive * positives);
  const std::size_t count = std::min(wanted, negatives.size());
  const auto end = negatives.begin() + static_cast<std::ptrdiff_t>(count);
  auto harder = [losses](std::int64_t a, std::int64_t b) {
    return losses[a] != losses[b] ? losses[a] > losses[b] : a < b;
  };
  if (count < negatives.size()) std::nth_element(negatives.begin(), end, negatives.end(), harder);
  for (auto i = negatives.begin(); i != end; ++i) picked[*i] = 1;
}

std::int64_t positive_rows(const MultiboxShape& s, const std::int32_t* labels,
                           const std::int32_t* rows) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < s.rows() && rows[i] >= 0; ++i) count += labels[rows[i]] > 0;
  return count;
}

}  // namespace

void background_losses(const MultiboxShape& s, const float* log_probabilities,
                       const std::int32_t* labels, float* losses) {
  parallel_for(s.rows(), kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      // Rounding can make the logarithm of a probability slightly positive. Losses must be >= 0:
      // negative values are marks.
      const float loss = std::max(0.0F, -log_probabilities[row * s.classes]);
      losses[row] = labels[row] == 0 ? loss : labels[row] > 0 ? kPositiveRow : kUncountedRow;
    }
  });
}

void pick_hard_negatives(const MultiboxShape& s, const float* losses, std::uint8_t* picked) {
  parallel_for(s.images, 1, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> negatives;
    for (std::int64_t image = begin; image < end; ++image)
      pick_in_image(s.anchors, losses + image * s.anchors, picked + image * s.anchors, negatives);
  });
}

void compact(std::int64_t count, const std::uint8_t* picked, std::int32_t* rows) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (picked[i]) rows[at++] = static_cast<std::int32_t>(i);
  }
  std::fill(rows + at, rows + count, -1);
}

void multibox_loss_forward(const MultiboxShape& s, const float* log_probabilities,
                           const std::int32_t* labels, const float* offsets, const float* targets,
                           const std::int32_t* rows, LossFigures* figures) {
  double loss = 0;
  std::int64_t positives = 0;
  std::int64_t correct = 0;
  for (std::int64_t i = 0; i < s.rows() && rows[i] >= 0; ++i) {
    const std::int64_t row = rows[i];
    const float* log_p = log_probabilities + row * s.classes;
    const std::int32_t label = labels[row];
    HEADWAY_INVARIANT(label >= 0 && label < s.classes);
    loss -= double{log_p[label]};
    if (label == 0) continue;
    ++positives;
    correct += std::max_element(log_p, log_p + s.classes) - log_p == label;
    for (std::int64_t k = 4 * row; k < 4 * row + 4; ++k)
      loss += smooth_l1(double{offsets[k]} - double{targets[k]});
  }
  figures->loss =
      static_cast<float>(loss / static_cast<double>(std::max<std::int64_t>(1, positives)));
  figures->correct = static_cast<float>(correct);
  figures->counted = static_cast<float>(positives);
}

void multibox_loss_backward(const MultiboxShape& s, const std::int32_t* labels,
                            const float* offsets, const float* targets, const std::int32_t* rows,
                            float* dlog_probabilities, float* doffsets, float scale) {
  auto clear = [](float* to, std::int64_t count) {
    parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
      std::fill(to + begin, to + end, 0.0F);
    });
  };
  clear(dlog_probabilities, s.rows() * s.classes);
  clear(doffsets, 4 * s.rows());
  const auto positives = std::max<std::int64_t>(1, positive_rows(s, labels, rows));
  const float share = scale / static_cast<float>(positives);
  for (std::int64_t i = 0; i < s.rows() && rows[i] >= 0; ++i) {
    const std::int64_t row = rows[i];
    dlog_probabilities[row * s.classes + labels[row]] = -share;
    if (labels[row] == 0) continue;
    for (std::int64_t k = 4 * row; k < 4 * row + 4; ++k)
      doffsets[k] = share * std::clamp(offsets[k] - targets[k], -1.0F, 1.0F);
  }
}

}  // namespace headway::kernels
