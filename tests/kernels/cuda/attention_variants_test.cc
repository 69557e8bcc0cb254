// SPDX-License-Identifier: MIT
// Attention on the general units and on tensor cores: against the processor, one after the other, twice.
#include <doctest/doctest.h>

#include "kernels/attention/launch.h"
#include "kernels/attention/op.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::AttentionShape;
using enum AttentionVariant;

constexpr NumberFormat kNarrow[] = {NumberFormat::kFloat16, NumberFormat::kBfloat16};
constexpr std::int64_t kDepths[] = {16, 32, 64, 128};

/// What a result may differ by: probabilities and gradients of scores are rounded before they are multiplied, so that two
/// half units of the last place come together, and sums of many.
double tolerance_of(AttentionVariant variant, NumberFormat format) {
  return variant == kTensorCores ? 2 * tolerance(format) : tolerance(format);
}

/// Inputs of one shape, what the processor makes of them, and y in double precision.
struct Case {
  NumberFormat format;
  AttentionShape s;
  std::vector<float> qkv, dy, y, lse;

  Case(NumberFormat its_format, const AttentionShape& shape) : format(its_format), s(shape) {
    const std::int64_t n = s.batch * s.length * s.columns();
    qkv = rounded(format, random_floats(3 * n, 1));
    dy = rounded(format, random_floats(n, 2));
    y.resize(static_cast<std::size_t>(n));
    lse.resize(static_cast<std::size_t>(s.groups() * s.window));
    kernels::attention_forward(s, qkv.data(), y.data(), lse.data());
    kernels::reference::attention_forward(s, qkv.data(), y.data());
  }
};

struct Made {
  std::vector<float> y, lse, dqkv;
  bool operator==(const Made&) const = default;
};
Made make(const Case& c, AttentionVariant forward, AttentionVariant backward) {
  const std::int64_t n = c.s.batch * c.s.length * c.s.columns(), rows = c.s.groups() * c.s.window;
  const Array qkv(c.format, c.qkv), dy(c.format, c.dy), y(c.format, n), dqkv(c.format, 3 * n),
      lse(NumberFormat::kFloat32, rows), shares(NumberFormat::kFloat32, rows);
  gpu().run(
      attention_forward(gpu().limits(), c.format, c.s, qkv.get(), y.get(), lse.floats(), forward));
  gpu().run(attention_backward(gpu().limits(), c.format, c.s, qkv.get(), y.get(), lse.floats(),
                               dy.get(), dqkv.get(), shares.floats(), backward));
  return {y.read(), lse.read(), dqkv.read()};
}
void check(const Case& c, AttentionVariant forward, AttentionVariant backward) {
  CAPTURE(name_of(c.format));
  CAPTURE(c.s.depth);
  CAPTURE(c.s.length);
  CAPTURE(c.s.window);
  CAPTURE(c.s.shift);
  CAPTURE(static_cast<int>(forward));
  CAPTURE(static_cast<int>(backward));
  const Made made = make(c, forward, backward);
  CHECK(largest_difference(made.y, c.y) < tolerance_of(forward, c.format));
  CHECK(largest_difference(made.lse, c.lse) < 1e-5);
  // Backward from what forward left.
  std::vector<float> dqkv(c.qkv.size());
  kernels::attention_backward(c.s, c.qkv.data(), made.y.data(), made.lse.data(), c.dy.data(),
                              dqkv.data());
  CHECK(largest_difference(made.dqkv, dqkv) < tolerance_of(backward, c.format));
}

}  // namespace

TEST_CASE("attention on tensor cores agrees at every length about its tiles' edges") {
  for (NumberFormat format : kNarrow)
    for (std::int64_t depth : kDepths)
      for (std::int64_t length : {1, 17, 63, 64, 65, 128, 131})
        check(Case(format, {1, length, 1, depth, length, 0}), kTensorCores, kTensorCores);
}

TEST_CASE("attention on tensor cores agrees in windows, shifted ones and several heads too") {
  for (NumberFormat format : kNarrow)
    for (std::int64_t depth : kDepths) {
      check(Case(format, {2, 36, 3, depth, 12, 0}), kTensorCores, kTensorCores);
      check(Case(format, {2, 36, 2, depth, 12, 5}), kTensorCores, kTensorCores);
      check(Case(format, {1, 147, 1, depth, 49, 3}), kTensorCores, kTensorCores);
      // Where the last window wraps: inside a tile, at its edges, and leaving whole tiles out.
      check(Case(format, {1, 320, 1, depth, 160, 37}), kTensorCores, kTensorCores);
      check(Case(format, {1, 200, 1, depth, 200, 72}), kTensorCores, kTensorCores);
      check(Case(format, {1, 200, 1, depth, 200, 137}), kTensorCores, kTensorCores);
      check(Case(format, {1, 300, 1, depth, 300, 10}), kTensorCores, kTensorCores);
    }
}

TEST_CASE("either backward of attention follows either forward") {
  for (NumberFormat format : kFormats)
    for (std::int64_t depth : kDepths) {
      const Case c(format, {1, 80, 2, depth, 40, 11});
      for (AttentionVariant forward : {kGeneral, kTensorCores})
        for (AttentionVariant backward : {kGeneral, kTensorCores})
          if (format != NumberFormat::kFloat32 || (forward == kGeneral && backward == kGeneral))
            check(c, forward, backward);
    }
}

TEST_CASE("large scores do not overflow attention on tensor cores, nor do rows of equal ones") {
  for (NumberFormat format : kNarrow) {
    Case c(format, {1, 90, 1, 32, 90, 0});
    for (float scale : {30.0F, 0.0F}) {
      for (float& value : c.qkv) value *= scale;
      c.qkv = rounded(format, c.qkv);
      kernels::attention_forward(c.s, c.qkv.data(), c.y.data(), c.lse.data());
      const Made made = make(c, kTensorCores, kTensorCores);
      // Values of 30: the tolerance is of what was added up.
      CHECK(largest_difference(made.y, c.y) < 2 * tolerance(format));
      CHECK(largest_difference(made.lse, c.lse) < 1e-5);
      for (float value : made.dqkv) CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("attention gives the same bits every time") {
  for (NumberFormat format : kNarrow)
    for (AttentionVariant variant : {kGeneral, kTensorCores}) {
      const Case c(format, {1, 130, 2, 32, 130, 50});
      const Made first = make(c, variant, variant);
      for (int i = 0; i < 2; ++i) CHECK((make(c, variant, variant) == first));
    }
}

TEST_CASE("attention at addresses off 16 bytes is made on the general units") {
  const Case c(NumberFormat::kFloat16, {1, 70, 2, 32, 70, 0});
  const std::int64_t n = c.s.length * c.s.columns();
  const Array qkv(c.format, c.qkv, 1), y(c.format, n, 3), lse(NumberFormat::kFloat32, 140, 1);
  gpu().run(attention_forward(gpu().limits(), c.format, c.s, qkv.get(), y.get(), lse.floats()));
  CHECK(largest_difference(y.read(), c.y) < tolerance(c.format));
}

}  // namespace headway::test
