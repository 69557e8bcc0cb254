// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"

namespace headway::kernels {

// Rows are few (a batch) and classes are few (ten): one thread, no vector tricks.
void softmax_cross_entropy_forward(SoftmaxCrossEntropyShape shape, const float* logits,
                                   const std::int32_t* labels, float* probabilities,
                                   LossFigures* figures) {
  double loss = 0;
  std::int64_t correct = 0;
  std::int64_t counted = 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const float* x = logits + row * shape.classes;
    float* p = probabilities + row * shape.classes;
    const float* largest = std::max_element(x, x + shape.classes);
    double sum = 0;
    for (int c = 0; c < shape.classes; ++c) {
      p[c] = std::exp(x[c] - *largest);
      sum += p[c];
    }
    for (int c = 0; c < shape.classes; ++c) p[c] = static_cast<float>(p[c] / sum);
    const std::int32_t label = labels[row];
    HEADWAY_INVARIANT(label < shape.classes);
    if (label < 0) continue;
    ++counted;
    correct += largest - x == label;
    loss += std::log(sum) - (static_cast<double>(x[label]) - *largest);
  }
  figures->loss = counted ? static_cast<float>(loss / static_cast<double>(counted)) : 0;
  figures->correct = static_cast<float>(correct);
  figures->counted = static_cast<float>(counted);
}

void softmax_cross_entropy_backward(SoftmaxCrossEntropyShape shape, const float* probabilities,
                                    const std::int32_t* labels, float* dlogits) {
  const auto counted = std::count_if(labels, labels + shape.rows, [](auto l) { return l >= 0; });
  const float scale = counted ? 1.0F / static_cast<float>(counted) : 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (int c = 0; c < shape.classes; ++c) {
      const std::int64_t i = row * shape.classes + c;
      const float target = labels[row] == c ? 1.0F : 0.0F;
      dlogits[i] = labels[row] < 0 ? 0 : (probabilities[i] - target) * scale;
    }
  }
}

}  // namespace headway::kernels
