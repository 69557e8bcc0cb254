// SPDX-License-Identifier: MIT
#include "kernels/batch_norm/op.h"

#include <doctest/doctest.h>

#include <array>

#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

constexpr std::array kEpilogues = {Epilogue::kNone, Epilogue::kRelu, Epilogue::kAddRelu};
// Powers of two that join rows, multiples of a panel, odd widths, one row, more than one tile.
constexpr std::array<BatchNormShape, 9> kShapes = {
    {{7, 1}, {50, 3}, {33, 8}, {785, 16}, {129, 32}, {98, 64}, {61, 37}, {1, 16}, {9000, 16}}};

/// All arrays of one batch normalisation, forward and backward.
struct Arrays {
  BatchNormShape shape;
  std::vector<float> x, residual, gamma, beta, running_mean, running_variance, y, mean, rstd;
  std::vector<float> dy, dx, dgamma, dbeta, dresidual;
  std::vector<std::uint8_t> mask;

  Arrays(BatchNormShape s, float offset) : shape(s) {
    const std::int64_t n = s.elements();
    const auto size = static_cast<std::size_t>(n);
    x = random_floats(n, 1, offset);
    residual = random_floats(n, 2);
    gamma = random_floats(s.channels, 3, 1, 0.2F);
    beta = random_floats(s.channels, 4, 0, 0.3F);
    running_mean = random_floats(s.channels, 5);
    running_variance = std::vector<float>(gamma.size(), 1.5F);
    dy = random_floats(n, 6);
    for (auto* array : {&y, &dx, &dresidual}) array->assign(size, -7);
    for (auto* array : {&mean, &rstd, &dgamma, &dbeta}) array->assign(gamma.size(), -7);
    mask.assign(size, 9);
  }
  BatchNormForward forward() {
    return {x.data(),    residual.data(),     gamma.data(),
            beta.data(), running_mean.data(), running_variance.data(),
            y.data(),    mean.data(),         rstd.data(),
            mask.data()};
  }
  BatchNormBackward backward() {
    return {x.data(),    dy.data(), gamma.data(),  beta.data(),  mean.data(),     rstd.data(),
            mask.data(), dx.data(), dgamma.data(), dbeta.data(), dresidual.data()};
  }
};

void check_against_reference(BatchNormShape shape, Epilogue epilogue, float offset) {
  CAPTURE(shape.rows);
  CAPTURE(shape.channels);
  CAPTURE(static_cast<int>(epilogue));
  Arrays fast(shape, offset);
  Arrays plain(shape, offset);
  batch_norm_forward(shape, epilogue, 1e-5F, 0.1F, fast.forward());
  reference::batch_norm_forward(shape, epilogue, 1e-5F, 0.1F, plain.forward());
  // One row has variance 0, so 1/sqrt(epsilon) magnifies the rounding of the mean.
  const double tolerance = shape.rows == 1 ? 1e-3 : 2e-5 * (1 + std::abs(offset));
  CHECK(largest_difference(fast.y, plain.y) < tolerance);
  CHECK(largest_difference(fast.mean, plain.mean) < 1e-6);
  CHECK(largest_difference(fast.rstd, plain.rstd) < 1e-5);
  CHECK(largest_difference(fast.running_mean, plain.running_mean) < 1e-6);
  CHECK(largest_difference(fast.running_variance, plain.running_variance) < 1e-5);
  if (epilogue == Epilogue::kAddRelu) {
    for (std::size_t i = 0; i < fast.y.size(); ++i)
      REQUIRE(fast.mask[i] == (fast.y[i] > 0 ? 1 : 0));
  }
  plain.mean = fast.mean;
  plain.rstd = fast.rstd;
  plain.mask = fast.mask;
  batch_norm_backward(shape, epilogue, fast.backward());
  reference::batch_norm_backward(shape, epilogue, plain.backward());
  const double scale = shape.rows == 1 ? 1e-2 : 1e-4;
  CHECK(largest_difference(fast.dbeta, plain.dbeta) < scale);
  CHECK(largest_difference(fast.dgamma, plain.dgamma) < scale);
  CHECK(largest_difference(fast.dx, plain.dx) < scale);
  if (epilogue == Epilogue::kAddRelu) CHECK(fast.dresidual == plain.dresidual);
}

}  // namespace

TEST_CASE("batch normalisation equals its reference for every epilogue and odd shapes") {
  for (BatchNormShape shape : kShapes)
    for (Epilogue epilogue : kEpilogues) check_against_reference(shape, epilogue, 0.5F);
}

TEST_CASE("a mean far from zero costs batch normalisation no precision") {
  for (Epilogue epilogue : kEpilogues) check_against_reference({3000, 16}, epilogue, 100);
}

TEST_CASE("batch normalisation on two threads equals one thread") {
  set_max_threads(test::thread_counts().back());
  Arrays two({9000, 16}, 1);
  batch_norm_forward(two.shape, Epilogue::kAddRelu, 1e-5F, 0.1F, two.forward());
  batch_norm_backward(two.shape, Epilogue::kAddRelu, two.backward());
  set_max_threads(1);
  Arrays one({9000, 16}, 1);
  batch_norm_forward(one.shape, Epilogue::kAddRelu, 1e-5F, 0.1F, one.forward());
  batch_norm_backward(one.shape, Epilogue::kAddRelu, one.backward());
  CHECK(largest_difference(two.y, one.y) < 1e-5);
  CHECK(largest_difference(two.dx, one.dx) < 1e-5);
}

TEST_CASE("inference uses the running statistics and leaves them alone") {
  for (BatchNormShape shape : kShapes) {
    for (Epilogue epilogue : kEpilogues) {
      Arrays fast(shape, 0);
      for (float& variance : fast.running_variance) variance = 0.7F;
      Arrays plain = fast;
      batch_norm_inference(shape, epilogue, 1e-5F, fast.forward());
      reference::batch_norm_inference(shape, epilogue, 1e-5F, plain.forward());
      CHECK(largest_difference(fast.y, plain.y) < 1e-5);
      CHECK(fast.running_mean == Arrays(shape, 0).running_mean);
      CHECK(fast.mask == Arrays(shape, 0).mask);
    }
  }
}

TEST_CASE("the reference's gradient agrees with finite differences of its forward pass") {
  constexpr BatchNormShape kShape{11, 3};
  for (Epilogue epilogue : kEpilogues) {
    Arrays base(kShape, 0.2F);
    reference::batch_norm_forward(kShape, epilogue, 1e-3F, 0.1F, base.forward());
    reference::batch_norm_backward(kShape, epilogue, base.backward());
    auto loss = [&](std::size_t index, float change) {
      Arrays moved(kShape, 0.2F);
      moved.x[index] += change;
      reference::batch_norm_forward(kShape, epilogue, 1e-3F, 0.1F, moved.forward());
      double sum = 0;
      for (std::size_t i = 0; i < moved.y.size(); ++i) sum += double{moved.y[i]} * moved.dy[i];
      return sum;
    };
    for (std::size_t i = 0; i < base.x.size(); ++i) {
      const double slope = (loss(i, 1e-3F) - loss(i, -1e-3F)) / 2e-3;
      CHECK(base.dx[i] == doctest::Approx(slope).epsilon(0.02));
    }
  }
}

TEST_CASE("the work of fused batch normalisation is less than that of its parts") {
  constexpr BatchNormShape kShape{1000, 16};
  const std::int64_t n = kShape.elements();
  auto bytes = [&](Epilogue e) {
    return batch_norm_forward_work(kShape, e).bytes + batch_norm_backward_work(kShape, e).bytes;
  };
  const std::int64_t relu = 20 * n;
  const std::int64_t add = 12 * n;
  CHECK(bytes(Epilogue::kRelu) < bytes(Epilogue::kNone) + relu);
  CHECK(bytes(Epilogue::kAddRelu) < bytes(Epilogue::kNone) + relu + add);
}

}  // namespace headway::kernels
