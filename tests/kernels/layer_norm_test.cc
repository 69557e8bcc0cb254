// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/op.h"

#include <doctest/doctest.h>

#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

struct Arrays {
  LayerNormShape shape;
  bool with_add;
  std::vector<float> x, added, sum, gamma, beta, y, mean, rstd, dy, dsum, dx, dgamma, dbeta;

  Arrays(LayerNormShape s, bool add, float offset) : shape(s), with_add(add) {
    const std::int64_t n = s.elements();
    x = random_floats(n, 1, offset);
    added = random_floats(n, 2);
    gamma = random_floats(s.columns, 3, 1, 0.2F);
    beta = random_floats(s.columns, 4, 0, 0.3F);
    dy = random_floats(n, 5);
    dsum = random_floats(n, 6);
    for (auto* array : {&sum, &y, &dx}) array->assign(x.size(), -7);
    for (auto* array : {&mean, &rstd}) array->assign(static_cast<std::size_t>(s.rows), -7);
    for (auto* array : {&dgamma, &dbeta}) array->assign(gamma.size(), -7);
  }
  LayerNormForward forward() {
    return {x.data(),    with_add ? added.data() : nullptr,
            sum.data(),  gamma.data(),
            beta.data(), y.data(),
            mean.data(), rstd.data()};
  }
  LayerNormBackward backward() {
    return {with_add ? sum.data() : x.data(), dy.data(), gamma.data(),  mean.data(), rstd.data(),
            with_add ? dsum.data() : nullptr, dx.data(), dgamma.data(), dbeta.data()};
  }
};

}  // namespace

TEST_CASE("layer norm equals its reference at odd shapes, with and without an add") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (LayerNormShape shape : {LayerNormShape{1, 8}, {5, 7}, {700, 33}, {64, 128}, {3, 1000}}) {
      for (bool add : {false, true}) {
        Arrays fast(shape, add, 2);
        Arrays plain(shape, add, 2);
        layer_norm_forward(shape, 1e-5F, fast.forward());
        reference::layer_norm_forward(shape, 1e-5F, plain.forward());
        CHECK(largest_difference(fast.y, plain.y) < 2e-5);
        CHECK(largest_difference(fast.mean, plain.mean) < 1e-6);
        CHECK(largest_difference(fast.rstd, plain.rstd) < 1e-5);
        if (add) CHECK(largest_difference(fast.sum, plain.sum) < 1e-6);
        plain.mean = fast.mean;
        plain.rstd = fast.rstd;
        plain.sum = fast.sum;
        layer_norm_backward(shape, fast.backward());
        reference::layer_norm_backward(shape, plain.backward());
        CHECK(largest_difference(fast.dx, plain.dx) < 2e-5);
        CHECK(largest_difference(fast.dgamma, plain.dgamma) < 1e-4);
        CHECK(largest_difference(fast.dbeta, plain.dbeta) < 1e-4);
      }
    }
  }
}

TEST_CASE("the layer norm reference's gradient agrees with finite differences") {
  constexpr LayerNormShape kShape{4, 9};
  Arrays base(kShape, false, 0);
  reference::layer_norm_forward(kShape, 1e-3F, base.forward());
  reference::layer_norm_backward(kShape, base.backward());
  for (std::size_t i = 0; i < base.x.size(); ++i) {
    auto loss = [&](float change) {
      Arrays moved(kShape, false, 0);
      moved.x[i] += change;
      reference::layer_norm_forward(kShape, 1e-3F, moved.forward());
      double sum = 0;
      for (std::size_t k = 0; k < moved.y.size(); ++k) sum += double{moved.y[k]} * moved.dy[k];
      return sum;
    };
    CHECK(base.dx[i] == doctest::Approx((loss(1e-3F) - loss(-1e-3F)) / 2e-3).epsilon(0.02));
  }
}

}  // namespace headway::kernels
