// SPDX-License-Identifier: MIT
#include "kernels/attention/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/parallel.h"
#include "kernels/softmax/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

// Odd lengths and depths, more queries than a block, windows with and without a shift.
const std::vector<AttentionShape> kShapes = {
    {1, 7, 1, 5, 7, 0},  {2, 16, 2, 8, 16, 0}, {1, 131, 3, 16, 131, 0}, {2, 24, 2, 4, 8, 0},
    {2, 24, 2, 4, 8, 4}, {1, 20, 1, 9, 5, 2},  {1, 20, 1, 9, 20, 7}};

struct Arrays {
  AttentionShape shape;
  std::vector<float> qkv, y, lse, dy, dqkv;
  explicit Arrays(const AttentionShape& s)
      : shape(s),
        qkv(random_floats(s.batch * s.length * 3 * s.columns(), 1)),
        y(qkv.size() / 3, -7),
        lse(static_cast<std::size_t>(s.groups() * s.window), -7),
        dy(random_floats(s.batch * s.length * s.columns(), 2)),
        dqkv(qkv.size(), -7) {}
  void forward() { attention_forward(shape, qkv.data(), y.data(), lse.data()); }
  void backward() {
    attention_backward(shape, qkv.data(), y.data(), lse.data(), dy.data(), dqkv.data());
  }
};

}  // namespace

TEST_CASE("fused attention equals its reference, plain, in windows and in shifted windows") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (const AttentionShape& shape : kShapes) {
      CAPTURE(shape.length);
      CAPTURE(shape.window);
      Arrays a(shape);
      a.forward();
      std::vector<float> plain(a.y.size());
      reference::attention_forward(shape, a.qkv.data(), plain.data());
      CHECK(largest_difference(a.y, plain) < 2e-6);
    }
  }
}

TEST_CASE("the gradient of fused attention agrees with differences of the reference") {
  for (const AttentionShape& shape : kShapes) {
    Arrays a(shape);
    a.forward();
    a.backward();
    std::vector<float> y(a.y.size());
    const std::size_t step = std::max<std::size_t>(1, a.qkv.size() / 60);
    for (std::size_t i = 0; i < a.qkv.size(); i += step) {
      auto loss = [&](float change) {
        const float kept = a.qkv[i];
        a.qkv[i] = kept + change;
        reference::attention_forward(shape, a.qkv.data(), y.data());
        a.qkv[i] = kept;
        double sum = 0;
        for (std::size_t k = 0; k < y.size(); ++k) sum += double{y[k]} * a.dy[k];
        return sum;
      };
      const double slope = (loss(2e-2F) - loss(-2e-2F)) / 4e-2;
      CHECK(std::abs(a.dqkv[i] - slope) < 3e-3 * (1 + std::abs(slope)));
    }
  }
}

TEST_CASE("attention in parts gives what the fused form gives, windows shifted or not") {
  for (const AttentionShape& s : kShapes) {
    Arrays a(s);
    a.forward();
    const auto part = static_cast<std::size_t>(s.groups() * s.window * s.depth);
    const auto square = static_cast<std::size_t>(s.groups() * s.window * s.window);
    std::vector<float> rolled(a.qkv.size()), q(part), k(part), v(part), y(part), scores(square);
    std::vector<float> masked(square), p(square), merged(a.y.size()), back(a.y.size());
    roll_rows(s.batch, s.length, 3 * s.columns(), s.shift, a.qkv.data(), rolled.data());
    split_heads(s, rolled.data(), q.data(), k.data(), v.data());
    batched_matmul({s.groups(), s.window, s.window, s.depth, false, true}, q.data(), k.data(),
                   scores.data());
    for (float& score : scores) score /= std::sqrt(static_cast<float>(s.depth));
    attention_mask(s, scores.data(), masked.data());
    softmax_forward(s.groups() * s.window, s.window, masked.data(), p.data());
    batched_matmul({s.groups(), s.window, s.depth, s.window, false, false}, p.data(), v.data(),
                   y.data());
    merge_heads(s, y.data(), merged.data());
    roll_rows(s.batch, s.length, s.columns(), -s.shift, merged.data(), back.data());
    CHECK(largest_difference(back, a.y) < 2e-6);
    std::vector<float> joined(a.qkv.size());
    join_heads(s, q.data(), k.data(), v.data(), joined.data());
    CHECK(joined == rolled);
    split_merged(s, merged.data(), q.data());
    CHECK(q == y);
  }
}

TEST_CASE("a batched product is right for every transposition at odd sizes") {
  constexpr std::int64_t kGroups = 3;
  for (const auto [m, n, k] : {std::array<std::int64_t, 3>{5, 7, 3}, {16, 17, 8}, {13, 33, 20}}) {
    const std::vector<float> a = random_floats(kGroups * m * k, 1);
    const std::vector<float> b = random_floats(kGroups * k * n, 2);
    for (int which = 0; which < 4; ++which) {
      const bool ta = (which & 1) != 0;
      const bool tb = (which & 2) != 0;
      std::vector<float> c(static_cast<std::size_t>(kGroups * m * n));
      batched_matmul({kGroups, m, n, k, ta, tb}, a.data(), b.data(), c.data());
      std::vector<float> plain;
      for (std::int64_t g = 0; g < kGroups; ++g)
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
              sum += double{a[static_cast<std::size_t>(g * m * k + (ta ? l * m + i : i * k + l))]} *
                     b[static_cast<std::size_t>(g * k * n + (tb ? j * k + l : l * n + j))];
            plain.push_back(static_cast<float>(sum));
          }
      CHECK(largest_difference(c, plain) < 1e-5);
    }
  }
}

}  // namespace headway::kernels
