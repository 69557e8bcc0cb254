// SPDX-License-Identifier: MIT
#include "kernels/multibox/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/softmax/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

struct Example {
  explicit Example(const MultiboxShape& s, int one_positive_in)
      : shape(s),
        log_probabilities(static_cast<std::size_t>(s.rows() * s.classes)),
        labels(static_cast<std::size_t>(s.rows())),
        offsets(test::random_floats(4 * s.rows(), 2)),
        targets(test::random_floats(4 * s.rows(), 3)),
        losses(labels.size(), -7),
        picked(labels.size(), 7),
        rows(labels.size(), -7) {
    const std::vector<float> logits = test::random_floats(s.rows() * s.classes, 1);
    log_softmax_forward(s.rows(), s.classes, logits.data(), log_probabilities.data());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto n = static_cast<int>(i);
      labels[i] = n % one_positive_in == 3 ? 1 + n % (s.classes - 1) : n % 11 == 10 ? -1 : 0;
    }
    background_losses(s, log_probabilities.data(), labels.data(), losses.data());
    pick_hard_negatives(s, losses.data(), picked.data());
    compact(s.rows(), picked.data(), rows.data());
  }
  LossFigures forward() const {
    LossFigures figures;
    multibox_loss_forward(shape, log_probabilities.data(), labels.data(), offsets.data(),
                          targets.data(), rows.data(), &figures);
    return figures;
  }

  MultiboxShape shape;
  std::vector<float> log_probabilities;
  std::vector<std::int32_t> labels;
  std::vector<float> offsets, targets, losses;
  std::vector<std::uint8_t> picked;
  std::vector<std::int32_t> rows;
};

}  // namespace

TEST_CASE(
    "what is picked is every positive row and the three times as many hardest negative ones") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (const MultiboxShape& s : {MultiboxShape{1, 37, 3}, {5, 501, 7}, {3, 8732, 2}}) {
      for (int one_in : {5, 29}) {  // with too few negatives, and with more than enough
        const Example e(s, one_in);
        for (std::int64_t n = 0; n < s.images; ++n) {
          std::vector<std::pair<float, std::int64_t>> negatives;
          std::size_t positives = 0;
          for (std::int64_t i = n * s.anchors; i < (n + 1) * s.anchors; ++i) {
            const auto row = static_cast<std::size_t>(i);
            positives += e.labels[row] > 0;
            if (e.labels[row] > 0) CHECK(e.picked[row] == 1);
            if (e.labels[row] < 0) CHECK(e.picked[row] == 0);
            if (e.labels[row] == 0)
              negatives.emplace_back(e.log_probabilities[row * static_cast<std::size_t>(s.classes)],
                                     i);
          }
          std::ranges::sort(negatives);  // the least likely background first
          for (std::size_t k = 0; k < negatives.size(); ++k)
            REQUIRE(e.picked[static_cast<std::size_t>(negatives[k].second)] == (k < 3 * positives));
        }
        const auto count = std::ranges::count(e.picked, 1);
        CHECK(std::ranges::is_sorted(e.rows.begin(), e.rows.begin() + count));
        for (std::size_t i = 0; i < e.rows.size(); ++i) {
          if (i < static_cast<std::size_t>(count)) {
            REQUIRE(e.picked[static_cast<std::size_t>(e.rows[i])] == 1);
          } else {
            REQUIRE(e.rows[i] == -1);
          }
        }
      }
    }
  }
}

TEST_CASE("the loss is the sum over what is picked, in double, and its gradient its slope") {
  const MultiboxShape s{4, 213, 5};
  Example e(s, 17);
  double expected = 0;
  double positives = 0;
  for (std::size_t row = 0; row < e.labels.size(); ++row) {
    if (!e.picked[row]) continue;
    expected -= e.log_probabilities[row * 5 + static_cast<std::size_t>(e.labels[row])];
    if (e.labels[row] == 0) continue;
    ++positives;
    for (std::size_t k = 4 * row; k < 4 * row + 4; ++k) {
      const double d = std::abs(double{e.offsets[k]} - e.targets[k]);
      expected += d < 1 ? 0.5 * d * d : d - 0.5;
    }
  }
  const LossFigures figures = e.forward();
  CHECK(figures.loss == doctest::Approx(expected / positives).epsilon(1e-6));
  CHECK(figures.counted == positives);
  CHECK(figures.correct <= positives);
  CHECK(figures.correct > 0);

  std::vector<float> dlog(e.log_probabilities.size(), -7), doffsets(e.offsets.size(), -7);
  multibox_loss_backward(s, e.labels.data(), e.offsets.data(), e.targets.data(), e.rows.data(),
                         dlog.data(), doffsets.data(), 2);
  auto check_slope = [&](std::vector<float>& values, const std::vector<float>& gradient,
                         std::size_t i) {
    constexpr float kStep = 0.02F;
    const float kept = values[i];
    values[i] = kept + kStep;
    const double up = e.forward().loss;
    values[i] = kept - kStep;
    const double down = e.forward().loss;
    values[i] = kept;
    CHECK(gradient[i] / 2 == doctest::Approx((up - down) / (2 * double{kStep})).epsilon(0.05));
  };
  for (std::size_t i = 0; i < 20; ++i) {
    const auto row = static_cast<std::size_t>(e.rows[i]);
    for (std::size_t c = 0; c < 5; ++c) check_slope(e.log_probabilities, dlog, row * 5 + c);
    for (std::size_t k = 0; k < 4; ++k) check_slope(e.offsets, doffsets, row * 4 + k);
  }
  for (std::size_t row = 0; row < e.labels.size(); ++row) {
    if (e.picked[row]) continue;
    for (std::size_t c = 0; c < 5; ++c) REQUIRE(dlog[row * 5 + c] == 0);
    for (std::size_t k = 0; k < 4; ++k) REQUIRE(doffsets[row * 4 + k] == 0);
  }
}

TEST_CASE("a batch without a single box has a loss of 0 and no gradient") {
  const MultiboxShape s{2, 19, 3};
  Example e(s, 2);  // no number is 3 modulo 2
  CHECK(e.rows[0] == -1);
  CHECK(e.forward().loss == 0);
  std::vector<float> dlog(e.log_probabilities.size(), 1), doffsets(e.offsets.size(), 1);
  multibox_loss_backward(s, e.labels.data(), e.offsets.data(), e.targets.data(), e.rows.data(),
                         dlog.data(), doffsets.data());
  CHECK(std::ranges::count(dlog, 0.0F) == static_cast<std::ptrdiff_t>(dlog.size()));
  CHECK(std::ranges::count(doffsets, 0.0F) == static_cast<std::ptrdiff_t>(doffsets.size()));
}

}  // namespace headway::kernels
