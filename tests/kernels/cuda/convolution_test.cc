// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "common/error.h"
#include "kernels/cuda/cudnn/convolution.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using cuda::ConvolutionForm;
using cuda::ConvolutionPlan;
using cuda::ConvolutionShape;
using cuda::Cudnn;

constexpr ConvolutionForm kForms[] = {ConvolutionForm::kForward, ConvolutionForm::kBackwardData,
                                      ConvolutionForm::kBackwardWeights};

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// In double, by the definition; the result takes the place of one of the three.
std::vector<float> reference(ConvolutionForm form, const ConvolutionShape& s,
                             const std::vector<float>& x, const std::vector<float>& w,
                             const std::vector<float>& y) {
  const std::int64_t out_height = s.out(s.height), out_width = s.out(s.width);
  std::vector<double> sums(form == ConvolutionForm::kForward        ? y.size()
                           : form == ConvolutionForm::kBackwardData ? x.size()
                                                                    : w.size());
  for (std::int64_t n = 0; n < s.images; ++n)
    for (std::int64_t p = 0; p < out_height; ++p)
      for (std::int64_t q = 0; q < out_width; ++q)
        for (std::int64_t k = 0; k < s.filters; ++k)
          for (std::int64_t r = 0; r < s.kernel; ++r)
            for (std::int64_t t = 0; t < s.kernel; ++t) {
              const std::int64_t h = p * s.stride + r - s.padding, v = q * s.stride + t - s.padding;
              if (h < 0 || h >= s.height || v < 0 || v >= s.width) continue;
              const std::int64_t iy = ((n * out_height + p) * out_width + q) * s.filters + k;
              for (std::int64_t c = 0; c < s.channels; ++c) {
                const std::int64_t ix = ((n * s.height + h) * s.width + v) * s.channels + c;
                const std::int64_t iw = ((k * s.kernel + r) * s.kernel + t) * s.channels + c;
                if (form == ConvolutionForm::kForward)
                  sums[at(iy)] += double{x[at(ix)]} * w[at(iw)];
                if (form == ConvolutionForm::kBackwardData)
                  sums[at(ix)] += double{y[at(iy)]} * w[at(iw)];
                if (form == ConvolutionForm::kBackwardWeights)
                  sums[at(iw)] += double{y[at(iy)]} * x[at(ix)];
              }
            }
  return {sums.begin(), sums.end()};
}

/// [outer][rows][columns] to [outer][columns][rows].
std::vector<float> turned(const std::vector<float>& from, std::int64_t rows, std::int64_t columns) {
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i), within = place % (rows * columns);
    to[at(place - within + within % columns * rows + within / columns)] = from[i];
  }
  return to;
}

/// Null, saying so, where cuDNN is not installed.
std::unique_ptr<Cudnn> cudnn() {
  try {
    return std::make_unique<Cudnn>();
  } catch (const Error& error) {
    MESSAGE("[skipped] ", error.what());
    return nullptr;
  }
}

/// A convolution of random arrays. They and its result are NHWC and K,R,S,C here, whatever it runs on.
struct Case {
  NumberFormat format;
  ConvolutionShape shape;
  std::vector<float> x, w, y;

  Case(NumberFormat f, const ConvolutionShape& s) : format(f), shape(s) {
    // So that sums over many products keep a deviation near 1.
    const float small = 1 / std::sqrt(static_cast<float>(s.channels * s.kernel * s.kernel));
    x = rounded(f, random_floats(s.x_elements(), 1));
    w = rounded(f, random_floats(s.w_elements(), 2, 0, small));
    y = rounded(f, random_floats(s.y_elements(), 3));
  }
  NumberFormat in_memory() const {
    return format == NumberFormat::kTf32 ? NumberFormat::kFloat32 : format;
  }
  std::vector<float> run(const Cudnn& library, ConvolutionForm form) const {
    const ConvolutionPlan plan(library, form, format, shape);
    const bool dx = form == ConvolutionForm::kBackwardData,
               dw = form == ConvolutionForm::kBackwardWeights;
    const std::vector<float> nothing;
    const auto filled = [&](const std::vector<float>& values, bool result) {
      if (result) return Array(in_memory(), static_cast<std::int64_t>(values.size()));
      const std::int64_t channels = &values == &y ? shape.filters : shape.channels;
      return Array(in_memory(),
                   shape.channels_first ? turned(values, pixels(values), channels) : values);
    };
    const Array ax = filled(x, dx), aw = filled(w, dw), ay = filled(y, !dx && !dw);
    const Plain<char> workspace(
        std::vector<char>(at(std::max<std::int64_t>(plan.workspace_bytes(), 1))));
    const auto bound = plan.bind({ax.get(), aw.get(), ay.get(), workspace.get()});
    plan.run(gpu().stream(), bound);
    HEADWAY_CU(gpu().driver(), cuStreamSynchronize, gpu().stream());
    const std::vector<float> result = (dx ? ax : dw ? aw : ay).read();
    if (!shape.channels_first) return result;
    return dx || dw ? turned(result, shape.channels, pixels(dx ? x : w))
                    : turned(result, shape.filters, pixels(y));
  }
  /// Extents between the first and the channels.
  std::int64_t pixels(const std::vector<float>& of) const {
    if (&of == &w) return shape.kernel * shape.kernel;
    return &of == &x ? shape.height * shape.width
                     : shape.out(shape.height) * shape.out(shape.width);
  }
};

}  // namespace

TEST_CASE("convolutions agree with double precision: every form and format, odd sizes, strides") {
  const auto library = cudnn();
  if (!library) return;
  MESSAGE("cuDNN ", library->version());
  for (NumberFormat format : {NumberFormat::kFloat32, NumberFormat::kTf32, NumberFormat::kFloat16,
                              NumberFormat::kBfloat16}) {
    for (const ConvolutionShape& shape : {ConvolutionShape{1, 1, 1, 1, 1, 1, 1, 0},
                                          {2, 9, 7, 16, 24, 1, 1, 0},
                                          {2, 9, 7, 16, 8, 3, 1, 1},
                                          {3, 8, 8, 8, 16, 3, 2, 1},
                                          {3, 8, 8, 8, 16, 1, 2, 0},
                                          {2, 17, 15, 3, 8, 7, 2, 3},
                                          {2, 5, 7, 13, 9, 3, 1, 1},
                                          {1, 10, 11, 6, 5, 3, 2, 0},
                                          {1, 1, 1, 1, 1, 1, 1, 0, true},
                                          {2, 9, 7, 16, 24, 1, 1, 0, true},
                                          {2, 9, 7, 16, 8, 3, 1, 1, true},
                                          {3, 8, 8, 8, 16, 3, 2, 1, true},
                                          {2, 17, 15, 3, 8, 7, 2, 3, true},
                                          {2, 5, 7, 13, 9, 3, 1, 1, true}}) {
      const Case c(format, shape);
      for (ConvolutionForm form : kForms) {
        CAPTURE(static_cast<int>(format));
        CAPTURE(static_cast<int>(form));
        CAPTURE(shape.channels);
        CAPTURE(shape.kernel);
        CAPTURE(shape.channels_first);
        const auto expected = reference(form, shape, c.x, c.w, c.y);
        // Products of TF32 operands are exact in FP32: only the sums differ.
        const double allowed = format == NumberFormat::kTf32 ? 2e-5 : tolerance(format);
        CHECK(largest_difference(c.run(*library, form), expected) < allowed);
      }
    }
  }
}

TEST_CASE("convolutions of integers are exact") {
  const auto library = cudnn();
  if (!library) return;
  for (ConvolutionShape s : {ConvolutionShape{2, 9, 7, 16, 24, 1, 1, 0},
                             {2, 9, 7, 16, 8, 3, 1, 1},
                             {3, 8, 8, 8, 16, 3, 2, 1},
                             {3, 8, 8, 4, 8, 3, 1, 1},
                             {2, 17, 15, 4, 8, 7, 2, 3},
                             {1, 28, 28, 64, 64, 3, 1, 1}}) {
    s.int8 = true;
    CAPTURE(s.channels);
    CAPTURE(s.filters);
    CAPTURE(s.kernel);
    auto integers = [](std::int64_t count, std::uint32_t seed) {
      std::vector<float> values = random_floats(count, seed, 0, 50);
      for (float& v : values) v = std::clamp(std::round(v), -127.0F, 127.0F);
      return values;
    };
    const std::vector<float> x = integers(s.x_elements(), 1), w = integers(s.w_elements(), 2);
    const Plain<std::int8_t> ax(std::vector<std::int8_t>(x.begin(), x.end()));
    const Plain<std::int8_t> aw(std::vector<std::int8_t>(w.begin(), w.end()));
    const Plain<std::int32_t> ay(std::vector<std::int32_t>(at(s.y_elements()), -1));
    const ConvolutionPlan plan(*library, ConvolutionForm::kForward, NumberFormat::kFloat32, s);
    const Plain<char> workspace(
        std::vector<char>(at(std::max<std::int64_t>(plan.workspace_bytes(), 1))));
    plan.run(gpu().stream(), plan.bind({ax.get(), aw.get(), ay.get(), workspace.get()}));
    HEADWAY_CU(gpu().driver(), cuStreamSynchronize, gpu().stream());
    const auto expected =
        reference(ConvolutionForm::kForward, s, x, w, std::vector<float>(at(s.y_elements())));
    const std::vector<std::int32_t> sums = ay.read();
    CAPTURE(fmt::format("{}", fmt::join(sums.begin(), sums.begin() + 8, " ")));
    CAPTURE(fmt::format("{}", fmt::join(expected.begin(), expected.begin() + 8, " ")));
    CHECK(std::vector<float>(sums.begin(), sums.end()) == expected);
  }
}

TEST_CASE("FP32 means FP32: an engine that rounds its operands is used for TF32 only") {
  const auto library = cudnn();
  if (!library) return;
  const ConvolutionShape shape{4, 12, 12, 64, 64, 3, 1, 1};
  const Case full(NumberFormat::kFloat32, shape);
  Case rounding = full;
  rounding.format = NumberFormat::kTf32;
  const auto expected = reference(ConvolutionForm::kForward, shape, full.x, full.w, full.y);
  CHECK(largest_difference(full.run(*library, ConvolutionForm::kForward), expected) < 1e-5);
  // Operands of 10 bits: some digit of the fourth place is wrong, and none of the second.
  const double error =
      largest_difference(rounding.run(*library, ConvolutionForm::kForward), expected);
  CHECK(error < 1e-2);
  if (gpu().context().name() != "Emulated GPU") return;
  CHECK(error > 1e-5);
  // The stand-in's engines in their order: narrowing, tensor cores, refusing, greedy, plain.
  auto passed_over = [&](NumberFormat format) {
    return ConvolutionPlan(*library, ConvolutionForm::kForward, format, shape).passed_over();
  };
  CHECK(passed_over(NumberFormat::kFloat32) == 4);
  CHECK(passed_over(NumberFormat::kTf32) == 1);
  CHECK(passed_over(NumberFormat::kFloat16) == 0);
}

TEST_CASE("a plan is made within the workspace that is allowed, and says why there is none") {
  const auto library = cudnn();
  if (!library) return;
  const ConvolutionShape shape{2, 8, 8, 16, 16, 3, 1, 1};
  CHECK(ConvolutionPlan(*library, ConvolutionForm::kForward, NumberFormat::kFloat32, shape)
            .workspace_bytes() <= ConvolutionPlan::kMostWorkspaceBytes);
  CHECK_THROWS_AS(ConvolutionPlan(*library, ConvolutionForm::kForward, NumberFormat::kFloat32,
                                  {2, 2, 2, 16, 16, 7, 1, 0}),
                  Error);
  ::setenv("FAKE_CUDNN_REFUSES", "1", 1);
  if (gpu().context().name() == "Emulated GPU")
    CHECK_THROWS_WITH_AS(
        ConvolutionPlan(*library, ConvolutionForm::kBackwardData, NumberFormat::kFloat16, shape),
        "Convolution 2x8x8x16 with 16 filters of 3x3, stride 1, padding 1, by data, FP16: cuDNN "
        "91900 has no engine for it within 1024 MiB of workspace (6 passed over; it says: this "
        "engine does not like this shape).",
        Error);
  ::unsetenv("FAKE_CUDNN_REFUSES");
}

TEST_CASE("another generation of cuDNN is refused, with what to install") {
  if (gpu().context().name() != "Emulated GPU") {
    MESSAGE("[skipped] only the stand-in can be of another version");
    return;
  }
  ::setenv("FAKE_CUDNN_VERSION", "8907", 1);
  std::string said;
  try {
    Cudnn library;
  } catch (const Error& error) {
    said = error.what();
  }
  ::unsetenv("FAKE_CUDNN_VERSION");
  CHECK(said.find("version 8907, not 9") != std::string::npos);
  CHECK(said.find("nvidia-cudnn-cu13") != std::string::npos);
}

}  // namespace headway::test
