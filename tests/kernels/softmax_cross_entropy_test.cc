// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy/op.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/kernels/random_array.h"

namespace headway::kernels {
namespace {

constexpr SoftmaxCrossEntropyShape kShape{5, 7};
const std::vector<std::int32_t> kLabels = {0, 6, -1, 3, 3};

LossFigures forward(const std::vector<float>& logits, std::vector<float>& probabilities) {
  LossFigures figures;
  softmax_cross_entropy_forward(kShape, logits.data(), kLabels.data(), probabilities.data(),
                                &figures);
  return figures;
}

}  // namespace

TEST_CASE("the gradient of the cross entropy agrees with finite differences") {
  std::vector<float> logits = test::random_floats(35, 1, 0, 2);
  std::vector<float> probabilities(35);
  std::vector<float> dlogits(35);
  forward(logits, probabilities);
  softmax_cross_entropy_backward(kShape, probabilities.data(), kLabels.data(), dlogits.data());
  std::vector<float> ignored(35);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    std::vector<float> up = logits;
    std::vector<float> down = logits;
    up[i] += 0.01F;
    down[i] -= 0.01F;
    const double slope = (double{forward(up, ignored).loss} - forward(down, ignored).loss) / 0.02;
    CHECK(std::abs(dlogits[i] - slope) < 2e-4);
  }
}

TEST_CASE("rows with a negative label count in neither loss nor gradient") {
  std::vector<float> logits = test::random_floats(35, 2);
  std::vector<float> probabilities(35);
  const LossFigures before = forward(logits, probabilities);
  CHECK(before.counted == 4);
  for (std::size_t c = 14; c < 21; ++c) logits[c] = 50;
  const LossFigures after = forward(logits, probabilities);
  CHECK(after.loss == before.loss);
  std::vector<float> dlogits(35, 1);
  softmax_cross_entropy_backward(kShape, probabilities.data(), kLabels.data(), dlogits.data());
  for (std::size_t c = 14; c < 21; ++c) CHECK(dlogits[c] == 0);
}

TEST_CASE("huge logits neither overflow nor lose the answer") {
  std::vector<float> logits(35, -1e30F);
  for (std::size_t row = 0; row < 5; ++row) logits[row * 7 + 3] = 1e30F;
  std::vector<float> probabilities(35);
  const LossFigures figures = forward(logits, probabilities);
  CHECK(figures.correct == 2);
  CHECK(std::isfinite(figures.loss));
}

}  // namespace headway::kernels
