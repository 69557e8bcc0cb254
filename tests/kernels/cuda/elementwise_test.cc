// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/add/launch.h"
#include "kernels/bias_activation/launch.h"
#include "kernels/bias_activation/op.h"
#include "kernels/cast/launch.h"
#include "kernels/column_sum/launch.h"
#include "kernels/layout/launch.h"
#include "kernels/relu/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;

constexpr std::int64_t kCounts[] = {1, 7, 8, 9, 255, 4096, 100'003};
struct Extents {
  std::int64_t rows, columns;
};
constexpr Extents kExtents[] = {{1, 1}, {5, 7}, {700, 33}, {64, 128}, {3, 1000}, {2000, 8}};

std::vector<float> inputs(NumberFormat format, std::int64_t count, std::uint32_t seed) {
  return rounded(format, random_floats(count, seed));
}
std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

TEST_CASE("add and ReLU are exact to the last place at every size, aligned or not") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (std::int64_t count : kCounts) {
      for (std::size_t offset : {0U, 1U}) {
        CAPTURE(count);
        const auto a = inputs(format, count, 1), b = inputs(format, count, 2);
        const Array da(format, a, offset), db(format, b, offset), dc(format, count, offset);
        std::vector<float> sum(a), clipped(a), gradient(a);
        for (std::size_t i = 0; i < a.size(); ++i) {
          sum[i] = a[i] + b[i];
          clipped[i] = a[i] > 0 ? a[i] : 0;
          gradient[i] = a[i] > 0 ? b[i] : 0;
        }
        for (AddVariant variant : {AddVariant::kNaive, AddVariant::kPacked}) {
          gpu().run(add(gpu().limits(), format, count, da.get(), db.get(), dc.get(), variant));
          CHECK(dc.read() == rounded(format, sum));
        }
        gpu().run(relu_forward(gpu().limits(), format, count, da.get(), dc.get()));
        CHECK(dc.read() == clipped);
        gpu().run(relu_backward(gpu().limits(), format, count, da.get(), db.get(), dc.get()));
        CHECK(dc.read() == gradient);
      }
    }
  }
}

TEST_CASE("casts round to nearest, ties to even, and keep infinities and NaN") {
  std::vector<float> values = random_floats(1003, 3, 0, 1000);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float special : {0.0F, -0.0F, 1.0F, 65504.0F, 65520.0F, 1e6F, 6e-8F, 3e-8F, 1e-30F, infinity,
                        -infinity, 1.0F + 1.0F / 256, 1.0F + 3.0F / 256, 1.0F + 1.0F / 2048})
    values.push_back(special);
  const Array from(NumberFormat::kFloat32, values);
  const auto count = static_cast<std::int64_t>(values.size());
  for (NumberFormat format :
       {NumberFormat::kFloat16, NumberFormat::kBfloat16, NumberFormat::kTf32}) {
    CAPTURE(static_cast<int>(format));
    const std::vector<float> expected = rounded(format, values);
    const Array same(NumberFormat::kFloat32, count);
    gpu().run(round_to(gpu().limits(), format, count, from.floats(), same.floats()));
    CHECK(same.read() == expected);
    if (format == NumberFormat::kTf32) continue;
    const Array narrow(format, count), back(NumberFormat::kFloat32, count);
    gpu().run(
        cast(gpu().limits(), NumberFormat::kFloat32, format, count, from.get(), narrow.get()));
    CHECK(narrow.read() == expected);
    gpu().run(
        cast(gpu().limits(), format, NumberFormat::kFloat32, count, narrow.get(), back.get()));
    CHECK(back.read() == expected);
  }
  const Array nan(NumberFormat::kFloat32, 3), result(NumberFormat::kFloat16, {0, 0, 0});
  gpu().run(cast(gpu().limits(), NumberFormat::kFloat32, NumberFormat::kFloat16, 3, nan.get(),
                 result.get()));
  for (float value : result.read()) CHECK(std::isnan(value));
}

TEST_CASE("layouts change without a change of any value") {
  for (NumberFormat format : kFormats) {
    for (auto [channels, pixels] : {Extents{1, 1}, {3, 50}, {33, 31}, {64, 196}, {70, 5}}) {
      CAPTURE(channels);
      const std::int64_t images = 3, count = images * channels * pixels;
      const auto x = inputs(format, count, 4);
      std::vector<float> expected(x);
      for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t p = 0; p < pixels; ++p)
            expected[at((n * pixels + p) * channels + c)] = x[at((n * channels + c) * pixels + p)];
      const Array from(format, x);
      for (LayoutVariant variant : {LayoutVariant::kNaive, LayoutVariant::kTiled}) {
        const Array to(format, count), back(format, count);
        gpu().run(nchw_to_nhwc(gpu().limits(), format, images, channels, pixels, from.get(),
                               to.get(), variant));
        CHECK(to.read() == expected);
        gpu().run(nhwc_to_nchw(gpu().limits(), format, images, channels, pixels, to.get(),
                               back.get(), variant));
        CHECK(back.read() == x);
      }
    }
  }
}

TEST_CASE("column sums agree with double precision") {
  for (NumberFormat format : kFormats) {
    for (auto [rows, columns] : kExtents) {
      for (std::size_t offset : {0U, 1U}) {
        CAPTURE(columns);
        const auto x = inputs(format, rows * columns, 5);
        std::vector<double> sums(at(columns));
        for (std::int64_t i = 0; i < rows * columns; ++i) sums[at(i % columns)] += x[at(i)];
        const Array from(format, x, offset), to(NumberFormat::kFloat32, columns);
        const Array scratch(NumberFormat::kFloat32,
                            plan_columns(gpu().limits(), rows, columns).scratch_floats(1));
        gpu().run(column_sum(gpu().limits(), format, rows, columns, from.get(), to.floats(),
                             scratch.floats()));
        CHECK(largest_difference(to.read(), {sums.begin(), sums.end()}) < 2e-5);
      }
    }
  }
}

TEST_CASE("bias with GELU or ReLU agrees with double precision, forward and backward") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (auto [rows, columns] : kExtents) {
      for (Activation activation : {Activation::kGelu, Activation::kRelu}) {
        CAPTURE(columns);
        const std::int64_t count = rows * columns;
        const auto x = inputs(format, count, 6), dy = inputs(format, count, 7);
        const auto bias = random_floats(columns, 8);
        std::vector<float> y(x), dx(x);
        std::vector<double> dbias(at(columns));
        for (std::int64_t i = 0; i < count; ++i) {
          const double z = double{x[at(i)]} + bias[at(i % columns)];
          const bool gelu = activation == Activation::kGelu;
          // Central differences of a smooth function: good to 1e-9 here.
          constexpr double kStep = 1e-5;
          const double slope =
              gelu ? (kernels::reference::gelu(z + kStep) - kernels::reference::gelu(z - kStep)) /
                         (2 * kStep)
                   : (z > 0 ? 1.0 : 0.0);
          y[at(i)] = static_cast<float>(gelu ? kernels::reference::gelu(z) : std::max(z, 0.0));
          dx[at(i)] = static_cast<float>(dy[at(i)] * slope);
          dbias[at(i % columns)] += dy[at(i)] * slope;
        }
        const Array dev_x(format, x), dev_dy(format, dy), out(format, count);
        const Array dev_bias(NumberFormat::kFloat32, bias);
        const Array sums(NumberFormat::kFloat32, columns);
        const Array scratch(NumberFormat::kFloat32,
                            plan_columns(gpu().limits(), rows, columns).scratch_floats(1));
        gpu().run(bias_activation_forward(gpu().limits(), activation, format, rows, columns,
                                          dev_x.get(), dev_bias.floats(), out.get()));
        CHECK(largest_difference(out.read(), y) < tolerance(format));
        gpu().run(bias_activation_backward(gpu().limits(), activation, format, rows, columns,
                                           dev_x.get(), dev_bias.floats(), dev_dy.get(), out.get(),
                                           sums.floats(), scratch.floats()));
        CHECK(largest_difference(out.read(), dx) < tolerance(format));
        CHECK(largest_difference(sums.read(), {dbias.begin(), dbias.end()}) < 2e-5);
      }
    }
  }
}

}  // namespace headway::test
