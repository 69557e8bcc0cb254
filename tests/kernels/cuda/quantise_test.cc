// SPDX-License-Identifier: MIT
#include "kernels/quantise/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/bias_activation/op.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::EpilogueActivation;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

double activated(EpilogueActivation activation, double x) {
  if (activation == EpilogueActivation::kRelu) return std::max(x, 0.0);
  return activation == EpilogueActivation::kGelu ? kernels::reference::gelu(x) : x;
}

}  // namespace

TEST_CASE("numbers become the processor's integers, and pads zero, at every size") {
  for (NumberFormat format : kFormats) {
    for (const auto& [rows, columns, to_columns] :
         {std::tuple{1, 1, 4}, {5, 3, 4}, {700, 8, 8}, {33, 1000, 1000}}) {
      CAPTURE(columns);
      const kernels::QuantiseShape shape{rows, columns, to_columns, 0.03125F};
      const auto from = rounded(format, random_floats(shape.rows * shape.columns, 7));
      std::vector<std::int8_t> expected(at(shape.rows * shape.to_columns), 1);
      kernels::quantise(shape, from.data(), expected.data());
      const Array source(format, from, 1);
      const Plain<std::int8_t> to(std::vector<std::int8_t>(expected.size(), 55));
      gpu().run(quantise(gpu().limits(), format, shape, source.get(), to.get()));
      CHECK(to.read() == expected);
    }
  }
}

TEST_CASE(
    "a product's epilogue adds, activates and quantises, whatever types it reads and writes") {
  constexpr std::int64_t kRows = 37;
  constexpr std::int64_t kColumns = 12;
  std::vector<std::int32_t> sums(at(kRows * kColumns));
  std::vector<std::int8_t> residual(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = static_cast<std::int32_t>(i * 7919 % 20'001) - 10'000;
    residual[i] = static_cast<std::int8_t>(static_cast<int>(i * 31 % 255) - 127);
  }
  const auto factors = random_floats(kColumns, 3), bias = random_floats(kColumns, 4);
  const Plain<std::int32_t> x(sums);
  const Plain<std::int8_t> added(residual);
  const Array biases(NumberFormat::kFloat32, bias);
  for (const auto activation :
       {EpilogueActivation::kNone, EpilogueActivation::kRelu, EpilogueActivation::kGelu}) {
    for (const bool with_residual : {false, true}) {
      std::vector<double> expected(sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t column = i % at(kColumns);
        double v = sums[i] * static_cast<double>(factors[column]) * 1e-3 +
                   static_cast<double>(bias[column]);
        if (with_residual) v += 0.05 * residual[i];
        expected[i] = activated(activation, v);
      }
      std::vector<float> small = factors;
      for (float& factor : small) factor *= 1e-3F;
      const Array factor_array(NumberFormat::kFloat32, small);
      kernels::ProductEpilogue shape{kRows, kColumns, activation, 0.05F, 0};
      EpilogueArrays arrays{x.get(),
                            Element::kInt32,
                            factor_array.floats(),
                            biases.floats(),
                            with_residual ? added.get() : nullptr,
                            with_residual ? Element::kInt8 : Element::kNone};
      for (NumberFormat format : kFormats) {
        const Array y(format, kRows * kColumns);
        arrays.y = y.get();
        arrays.y_type = element_of(format);
        gpu().run(product_epilogue(gpu().limits(), shape, arrays));
        const auto got = y.read();
        const double within = format == NumberFormat::kFloat32 ? 1e-5 : 1e-2;
        for (std::size_t i = 0; i < got.size(); ++i)
          CHECK(std::abs(got[i] - expected[i]) <= within * (1 + std::abs(expected[i])));
      }
      const Plain<std::int8_t> integers(std::vector<std::int8_t>(sums.size(), 55));
      arrays.y = integers.get();
      arrays.y_type = Element::kInt8;
      shape.inverse_scale = 20;
      gpu().run(product_epilogue(gpu().limits(), shape, arrays));
      const auto got = integers.read();
      for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(std::abs(got[i] - std::clamp(expected[i] * 20, -127.0, 127.0)) < 0.51);
    }
  }
}

TEST_CASE("in floating point the epilogue may work in place, with a residual of its format") {
  for (NumberFormat format : kFormats) {
    const auto x = rounded(format, random_floats(60, 1)), r = rounded(format, random_floats(60, 2));
    const auto bias = random_floats(6, 3);
    const Array y(format, x), added(format, r), biases(NumberFormat::kFloat32, bias);
    EpilogueArrays arrays{y.get(),     element_of(format), nullptr, biases.floats(),
                          added.get(), element_of(format), y.get(), element_of(format)};
    gpu().run(product_epilogue(gpu().limits(), {10, 6, EpilogueActivation::kRelu, 1, 0}, arrays));
    std::vector<float> expected(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      expected[i] = std::max(x[i] + bias[i % 6] + r[i], 0.0F);
    const auto got = y.read();
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK(got[i] ==
            doctest::Approx(expected[i]).epsilon(format == NumberFormat::kBfloat16 ? 0.01 : 0.002));
  }
}

}  // namespace headway::test
