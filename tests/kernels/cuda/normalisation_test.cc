// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "kernels/batch_norm/launch.h"
#include "kernels/cast/op.h"
#include "kernels/layer_norm/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::BatchNormShape;
using kernels::Epilogue;
using kernels::LayerNormShape;

constexpr NumberFormat kFull = NumberFormat::kFloat32;
constexpr Epilogue kEpilogues[] = {Epilogue::kNone, Epilogue::kRelu, Epilogue::kAddRelu};

/// Operands of a batch norm, the same for the reference and the device.
struct BatchNormCase {
  NumberFormat format;
  BatchNormShape shape;
  Epilogue epilogue;
  std::size_t offset;
  std::int64_t n = shape.elements();
  std::vector<float> x, residual, dy, gamma, beta, mean, variance;

  BatchNormCase(NumberFormat f, BatchNormShape s, Epilogue e, std::size_t o, float middle)
      : format(f), shape(s), epilogue(e), offset(o) {
    x = rounded(f, random_floats(n, 1, middle));
    residual = rounded(f, random_floats(n, 2));
    dy = rounded(f, random_floats(n, 3));
    gamma = random_floats(s.channels, 4, 1, 0.2F);
    beta = random_floats(s.channels, 5, 0, 0.3F);
    mean = random_floats(s.channels, 6);
    variance = random_floats(s.channels, 7, 2, 0.1F);
  }
};

void check_batch_norm(const BatchNormCase& c) {
  constexpr float kEpsilon = 1e-5F, kMomentum = 0.1F;
  const auto zeros = [](std::int64_t count) {
    return std::vector<float>(static_cast<std::size_t>(count));
  };
  // The reference.
  auto ref_mean = c.mean, ref_variance = c.variance, y = zeros(c.n),
       saved = zeros(c.shape.channels), rstd = saved;
  std::vector<std::uint8_t> mask(y.size());
  kernels::BatchNormForward forward{
      c.x.data(),          c.residual.data(), c.gamma.data(), c.beta.data(), ref_mean.data(),
      ref_variance.data(), y.data(),          saved.data(),   rstd.data(),   mask.data()};
  kernels::reference::batch_norm_forward(c.shape, c.epilogue, kEpsilon, kMomentum, forward);
  // The device.
  const std::size_t o = c.offset;
  const Array x(c.format, c.x, o), residual(c.format, c.residual, o), dy(c.format, c.dy, o);
  const Array gamma(kFull, c.gamma), beta(kFull, c.beta), mean(kFull, c.mean),
      variance(kFull, c.variance);
  const Array dev_y(c.format, c.n, o), dx(c.format, c.n, o), dresidual(c.format, c.n, o);
  const Array dev_saved(kFull, c.shape.channels), dev_rstd(kFull, c.shape.channels),
      dgamma(kFull, c.shape.channels), dbeta(kFull, c.shape.channels);
  const Array scratch(kFull, batch_norm_scratch_floats(gpu().limits(), c.shape));
  const Plain<std::uint8_t> bits(std::vector<std::uint8_t>(
      static_cast<std::size_t>(c.shape.rows * mask_row_bytes(c.shape.channels))));
  BatchNormArrays a;
  a.x = x.get(), a.residual = residual.get(), a.dy = dy.get();
  a.gamma = gamma.floats(), a.beta = beta.floats();
  a.running_mean = mean.floats(), a.running_variance = variance.floats();
  a.saved_mean = dev_saved.floats(), a.saved_rstd = dev_rstd.floats();
  a.mask = bits.get(), a.y = dev_y.get(), a.dx = dx.get(), a.dresidual = dresidual.get();
  a.dgamma = dgamma.floats(), a.dbeta = dbeta.floats(), a.scratch = scratch.floats();
  gpu().run(
      batch_norm_forward(gpu().limits(), c.format, c.shape, c.epilogue, kEpsilon, kMomentum, a));
  CHECK(largest_difference(dev_y.read(), y) < tolerance(c.format));
  CHECK(largest_difference(dev_saved.read(), saved) < 1e-5);
  CHECK(largest_difference(dev_rstd.read(), rstd) < 1e-4);
  CHECK(largest_difference(mean.read(), ref_mean) < 1e-5);
  CHECK(largest_difference(variance.read(), ref_variance) < 1e-4);

  // Backward from the device's statistics and mask; 0 and what rounds to it count as not passed by either.
  saved = dev_saved.read(), rstd = dev_rstd.read();
  const std::vector<std::uint8_t> got = bits.read();
  const std::int64_t row_bytes = mask_row_bytes(c.shape.channels);
  std::int64_t wrong_bits = 0;
  for (std::int64_t i = 0; i < c.n; ++i) {
    const std::int64_t channel = i % c.shape.channels;
    const bool bit =
        got[static_cast<std::size_t>(i / c.shape.channels * row_bytes + channel / 8)] >>
            (channel % 8) &
        1;
    const float value = y[static_cast<std::size_t>(i)];
    wrong_bits += bit != (value > 0) && std::abs(value) > 1e-5F;
    mask[static_cast<std::size_t>(i)] = bit;
  }
  if (c.epilogue == Epilogue::kAddRelu) CHECK(wrong_bits == 0);
  auto ref_dx = zeros(c.n), ref_dresidual = ref_dx, ref_dgamma = zeros(c.shape.channels),
       ref_dbeta = ref_dgamma;
  kernels::BatchNormBackward backward{c.x.data(),       c.dy.data(),         c.gamma.data(),
                                      c.beta.data(),    saved.data(),        rstd.data(),
                                      mask.data(),      ref_dx.data(),       ref_dgamma.data(),
                                      ref_dbeta.data(), ref_dresidual.data()};
  kernels::reference::batch_norm_backward(c.shape, c.epilogue, backward);
  gpu().run(batch_norm_backward(gpu().limits(), c.format, c.shape, c.epilogue, a));
  CHECK(largest_difference(dx.read(), ref_dx) < tolerance(c.format));
  CHECK(largest_difference(dgamma.read(), ref_dgamma) < 1e-4);
  CHECK(largest_difference(dbeta.read(), ref_dbeta) < 1e-4);
  if (c.epilogue == Epilogue::kAddRelu)
    CHECK(largest_difference(dresidual.read(), ref_dresidual) < tolerance(c.format));

  auto inferred = zeros(c.n);
  forward.running_mean = ref_mean.data(), forward.running_variance = ref_variance.data();
  forward.y = inferred.data();
  kernels::reference::batch_norm_inference(c.shape, c.epilogue, kEpsilon, forward);
  gpu().run(batch_norm_inference(gpu().limits(), c.format, c.shape, c.epilogue, kEpsilon, a));
  CHECK(largest_difference(dev_y.read(), inferred) < 2 * tolerance(c.format));
}

void check_layer_norm(NumberFormat format, LayerNormShape shape, bool add, std::size_t offset,
                      LayerNormVariant variant) {
  const std::int64_t n = shape.elements();
  const auto x = rounded(format, random_floats(n, 1, 2)),
             added = rounded(format, random_floats(n, 2)),
             dy = rounded(format, random_floats(n, 5)), dsum = rounded(format, random_floats(n, 6)),
             gamma = random_floats(shape.columns, 3, 1, 0.2F),
             beta = random_floats(shape.columns, 4, 0, 0.3F);
  const Array dx_in(format, x, offset), dadded(format, added, offset), ddy(format, dy, offset),
      ddsum(format, dsum, offset), dgamma_in(kFull, gamma), dbeta_in(kFull, beta);
  const Array sum(format, n, offset), y(format, n, offset), dx(format, n, offset);
  const Array mean(kFull, shape.rows), rstd(kFull, shape.rows), dgamma(kFull, shape.columns),
      dbeta(kFull, shape.columns), scratch(kFull, layer_norm_scratch_floats(gpu().limits(), shape));
  LayerNormArrays a;
  a.x = dx_in.get(), a.gamma = dgamma_in.floats(), a.beta = dbeta_in.floats(), a.y = y.get();
  a.mean = mean.floats(), a.rstd = rstd.floats();
  if (add) a.added = dadded.get(), a.sum = sum.get();
  gpu().run(layer_norm_forward(gpu().limits(), format, shape, 1e-5F, a, variant));

  std::vector<float> normalised(x);  // what the statistics are of: the sum as it is stored
  if (add)
    for (std::size_t i = 0; i < x.size(); ++i)
      normalised[i] = kernels::reference::round_to(format, x[i] + added[i]);
  if (add) CHECK(sum.read() == normalised);
  std::vector<float> ref_y(x), ref_mean(static_cast<std::size_t>(shape.rows)), ref_rstd(ref_mean);
  kernels::reference::layer_norm_forward(
      shape, 1e-5F,
      {normalised.data(), nullptr, nullptr, gamma.data(), beta.data(), ref_y.data(),
       ref_mean.data(), ref_rstd.data()});
  CHECK(largest_difference(y.read(), ref_y) < tolerance(format));
  CHECK(largest_difference(mean.read(), ref_mean) < 1e-5);
  CHECK(largest_difference(rstd.read(), ref_rstd) < 1e-4);

  ref_mean = mean.read(), ref_rstd = rstd.read();
  a.x = add ? sum.get() : dx_in.get();
  a.dy = ddy.get(), a.dsum = add ? ddsum.get() : nullptr, a.dx = dx.get();
  a.dgamma = dgamma.floats(), a.dbeta = dbeta.floats(), a.scratch = scratch.floats();
  gpu().run(layer_norm_backward(gpu().limits(), format, shape, a, variant));
  std::vector<float> ref_dx(x), ref_dgamma(gamma), ref_dbeta(gamma);
  kernels::reference::layer_norm_backward(
      shape, {normalised.data(), dy.data(), gamma.data(), ref_mean.data(), ref_rstd.data(),
              add ? dsum.data() : nullptr, ref_dx.data(), ref_dgamma.data(), ref_dbeta.data()});
  CHECK(largest_difference(dx.read(), ref_dx) < tolerance(format));
  CHECK(largest_difference(dgamma.read(), ref_dgamma) < 1e-4);
  CHECK(largest_difference(dbeta.read(), ref_dbeta) < 1e-4);
}

}  // namespace

TEST_CASE("batch norm agrees with its reference: alone, with ReLU, with Add-ReLU, at odd sizes") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (BatchNormShape shape :
         {BatchNormShape{1, 3}, {7, 1}, {50, 13}, {700, 24}, {333, 64}, {40, 300}}) {
      CAPTURE(shape.rows);
      CAPTURE(shape.channels);
      for (Epilogue epilogue : kEpilogues) {
        // One row has no variance: only the statistics' floor is left, which a gradient multiplies by 316.
        if (shape.rows == 1) continue;
        check_batch_norm({format, shape, epilogue, 0, 0});
        check_batch_norm({format, shape, epilogue, 1, 0});
      }
    }
  }
}

TEST_CASE("batch norm's statistics survive a mean far from zero") {
  check_batch_norm({kFull, {4000, 8}, Epilogue::kNone, 0, 3});
  const BatchNormShape shape{4000, 8};
  const auto x = random_floats(shape.elements(), 1, 1000);
  const Array dx(kFull, x), y(kFull, shape.elements()), one(kFull, std::vector<float>(8, 1.0F)),
      zero(kFull, std::vector<float>(8)), mean(kFull, std::vector<float>(8)),
      variance(kFull, std::vector<float>(8)), saved(kFull, 8), rstd(kFull, 8),
      scratch(kFull, batch_norm_scratch_floats(gpu().limits(), shape));
  BatchNormArrays a;
  a.x = dx.get(), a.y = y.get(), a.gamma = one.floats(), a.beta = zero.floats();
  a.running_mean = mean.floats(), a.running_variance = variance.floats();
  a.saved_mean = saved.floats(), a.saved_rstd = rstd.floats(), a.scratch = scratch.floats();
  gpu().run(batch_norm_forward(gpu().limits(), kFull, shape, Epilogue::kNone, 1e-5F, 0.1F, a));
  for (float r : rstd.read()) CHECK(r == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("layer norm agrees with its reference in every variant, with and without an add") {
  struct Case {
    LayerNormShape shape;
    LayerNormVariant variant;
  };
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const Case& c : {Case{{1, 8}, LayerNormVariant::kBest},
                          {{5, 7}, LayerNormVariant::kWarp},
                          {{300, 33}, LayerNormVariant::kWarp},
                          {{64, 128}, LayerNormVariant::kNaive},
                          {{64, 128}, LayerNormVariant::kWarp},
                          {{64, 128}, LayerNormVariant::kBlock},
                          {{9, 1000}, LayerNormVariant::kWarp},
                          {{9, 1000}, LayerNormVariant::kBlock},
                          {{11, 2056}, LayerNormVariant::kBest},
                          {{3, 8192}, LayerNormVariant::kBest},
                          {{3, 9001}, LayerNormVariant::kBest}}) {
      CAPTURE(c.shape.columns);
      for (bool add : {false, true}) {
        check_layer_norm(format, c.shape, add, 0, c.variant);
        check_layer_norm(format, c.shape, add, 1, c.variant);
      }
    }
  }
}

}  // namespace headway::test
