// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy/op.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/error.h"
#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {

namespace {

/// Sums over some of the rows.
struct Part {
  double loss = 0;
  std::int64_t correct = 0;
  std::int64_t counted = 0;
};

Part forward_rows(SoftmaxCrossEntropyShape shape, const float* logits, const std::int32_t* labels,
                  float* probabilities, std::int64_t begin, std::int64_t end) {
  Part part;
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = logits + row * shape.classes;
    float* p = probabilities + row * shape.classes;
    const float largest = loops().row_largest(shape.classes, x);
    const float sum = loops().row_exp(shape.classes, x, largest, p);
    loops().sgd_scale(shape.classes, 1 / sum, p);
    const std::int32_t label = labels[row];
    HEADWAY_INVARIANT(label < shape.classes);
    if (label < 0) continue;
    ++part.counted;
    part.correct += x[label] == largest && std::find(x, x + label, largest) == x + label;
    part.loss += std::log(double{sum}) - (double{x[label]} - largest);
  }
  return part;
}

std::int64_t grain_of(SoftmaxCrossEntropyShape shape) {
  return std::max<std::int64_t>(1, kFlatGrain / 4 / shape.classes);
}

}  // namespace

void softmax_cross_entropy_forward(SoftmaxCrossEntropyShape shape, const float* logits,
                                   const std::int32_t* labels, float* probabilities,
                                   LossFigures* figures) {
  // The parts are fixed and joined in order, so that the loss does not depend on the number of
  // threads.
  constexpr std::int64_t kPartRows = 256;
  std::vector<Part> parts(static_cast<std::size_t>((shape.rows + kPartRows - 1) / kPartRows));
  const std::int64_t grain = std::max<std::int64_t>(1, grain_of(shape) / kPartRows);
  parallel_for(static_cast<std::int64_t>(parts.size()), grain, max_threads(),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   parts[static_cast<std::size_t>(i)] =
                       forward_rows(shape, logits, labels, probabilities, i * kPartRows,
                                    std::min(shape.rows, (i + 1) * kPartRows));
               });
  Part all;
  for (const Part& part : parts) {
    all.loss += part.loss;
    all.correct += part.correct;
    all.counted += part.counted;
  }
  figures->loss = all.counted ? static_cast<float>(all.loss / static_cast<double>(all.counted)) : 0;
  figures->correct = static_cast<float>(all.correct);
  figures->counted = static_cast<float>(all.counted);
}

void softmax_cross_entropy_backward(SoftmaxCrossEntropyShape shape, const float* probabilities,
                                    const std::int32_t* labels, float* dlogits, float scale) {
  const auto counted = std::count_if(labels, labels + shape.rows, [](auto l) { return l >= 0; });
  const float share = counted ? scale / static_cast<float>(counted) : 0;
  parallel_for(
      shape.rows, grain_of(shape), max_threads(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          float* d = dlogits + row * shape.classes;
          loops().row_unary(RowOp::kScale, shape.classes, probabilities + row * shape.classes,
                            labels[row] < 0 ? 0 : share, d);
          if (labels[row] >= 0) d[labels[row]] -= share;
        }
      });
}

void nll_loss_forward(SoftmaxCrossEntropyShape shape, const float* log_probabilities,
                      const std::int32_t* labels, LossFigures* figures) {
  Part all;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const float* x = log_probabilities + row * shape.classes;
    const std::int32_t label = labels[row];
    HEADWAY_INVARIANT(label < shape.classes);
    if (label < 0) continue;
    ++all.counted;
    all.correct += std::max_element(x, x + shape.classes) - x == label;
    all.loss -= x[label];
  }
  figures->loss = all.counted ? static_cast<float>(all.loss / static_cast<double>(all.counted)) : 0;
  figures->correct = static_cast<float>(all.correct);
  figures->counted = static_cast<float>(all.counted);
}

void nll_loss_backward(SoftmaxCrossEntropyShape shape, const std::int32_t* labels, float* dx,
                       float scale) {
  const auto counted = std::count_if(labels, labels + shape.rows, [](auto l) { return l >= 0; });
  std::fill_n(dx, shape.rows * shape.classes, 0.0F);
  for (std::int64_t row = 0; row < shape.rows; ++row)
    if (labels[row] >= 0)
      dx[row * shape.classes + labels[row]] = -scale / static_cast<float>(counted);
}

}  // namespace headway::kernels
