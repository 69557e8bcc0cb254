// SPDX-License-Identifier: MIT
#include "kernels/row_program/op.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/bias_activation/op.h"
#include "kernels/cast/op.h"
#include "kernels/column_sum/op.h"
#include "kernels/embedding/op.h"
#include "kernels/parallel.h"
#include "kernels/softmax/op.h"
#include "kernels/softmax_cross_entropy/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

std::vector<float> run_one(RowOp op, const std::vector<float>& a, const std::vector<float>& b,
                           float constant = 0, std::uint64_t seed = 0) {
  RowProgram program;
  program.rows = 1;
  program.columns = static_cast<std::int64_t>(a.size());
  program.inputs = {RowKind::kFull};
  RowInstruction by;
  by.op = op;
  by.constant = constant;
  std::vector<const float*> inputs = {a.data()};
  if (!b.empty()) {
    by.b = 1;
    program.inputs.push_back(RowKind::kFull);
    inputs.push_back(b.data());
  }
  program.instructions = {by};
  program.outputs = {static_cast<int>(inputs.size())};
  std::vector<float> out(a.size(), -7);
  std::vector<float*> outputs = {out.data()};
  run_row_program(program, inputs, outputs, seed);
  return out;
}

}  // namespace

TEST_CASE("each elementwise instruction equals its definition in double precision") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    const std::vector<float> a = random_floats(40003, 1, 0, 3);
    const std::vector<float> b = random_floats(40003, 2);
    const std::vector<float> gelu = run_one(RowOp::kGelu, a, {});
    const std::vector<float> slope = run_one(RowOp::kGeluBackward, a, b);
    const std::vector<float> tanh = run_one(RowOp::kTanh, a, {});
    const std::vector<float> minus = run_one(RowOp::kSubtract, a, b);
    const std::vector<float> relu = run_one(RowOp::kReluBackward, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = a[i];
      REQUIRE(std::abs(gelu[i] - reference::gelu(x)) < 2e-6 * (1 + std::abs(x)));
      const double difference = (reference::gelu(x + 1e-5) - reference::gelu(x - 1e-5)) / 2e-5;
      REQUIRE(std::abs(slope[i] - difference * b[i]) < 1e-5 * (1 + std::abs(b[i])));
      REQUIRE(std::abs(tanh[i] - std::tanh(x)) < 1e-6);
      REQUIRE(minus[i] == a[i] - b[i]);
      REQUIRE(relu[i] == (a[i] > 0 ? b[i] : 0));
    }
  }
}

TEST_CASE("a program of a whole layer norm equals the chain one by one") {
  constexpr std::int64_t kRows = 37;
  constexpr std::int64_t kColumns = 50;
  const std::vector<float> x = random_floats(kRows * kColumns, 1, 3);
  const std::vector<float> gamma = random_floats(kColumns, 2);
  RowProgram program;
  program.rows = kRows;
  program.columns = kColumns;
  program.inputs = {RowKind::kFull, RowKind::kPerColumn};
  auto add = [&](RowOp op, int a, int b = -1, float constant = 0) {
    program.instructions.push_back({op, a, b, constant, 0, {}});
    return static_cast<int>(program.inputs.size() + program.instructions.size()) - 1;
  };
  const int mean = add(RowOp::kRowMean, 0);
  const int centred = add(RowOp::kSubtract, 0, mean);
  const int variance = add(RowOp::kRowMean, add(RowOp::kMultiply, centred, centred));
  const int rstd = add(RowOp::kRsqrt, variance, -1, 1e-5F);
  const int y = add(RowOp::kMultiply, add(RowOp::kMultiply, centred, rstd), 1);
  program.outputs = {y, rstd};
  CHECK(program.kinds()[static_cast<std::size_t>(rstd)] == RowKind::kPerRow);
  std::vector<float> out(x.size());
  std::vector<float> scale(kRows);
  const std::vector<const float*> inputs = {x.data(), gamma.data()};
  const std::vector<float*> outputs = {out.data(), scale.data()};
  run_row_program(program, inputs, outputs, 0);
  for (std::int64_t row = 0; row < kRows; ++row) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t c = 0; c < kColumns; ++c)
      sum += x[static_cast<std::size_t>(row * kColumns + c)];
    for (std::int64_t c = 0; c < kColumns; ++c)
      squares += std::pow(x[static_cast<std::size_t>(row * kColumns + c)] - sum / kColumns, 2);
    const double expected = 1 / std::sqrt(squares / kColumns + 1e-5);
    CHECK(scale[static_cast<std::size_t>(row)] == doctest::Approx(expected).epsilon(1e-5));
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const auto i = static_cast<std::size_t>(row * kColumns + c);
      CHECK(out[i] ==
            doctest::Approx((x[i] - sum / kColumns) * expected * gamma[static_cast<std::size_t>(c)])
                .epsilon(1e-4));
    }
  }
}

TEST_CASE("dropout drops its share, scales the rest, and repeats for a seed on any threads") {
  const std::vector<float> ones(100000, 1);
  set_max_threads(1);
  const std::vector<float> first = run_one(RowOp::kDropout, ones, {}, 0.25F, 4);
  set_max_threads(test::thread_counts().back());
  CHECK(run_one(RowOp::kDropout, ones, {}, 0.25F, 4) == first);
  CHECK(run_one(RowOp::kDropout, ones, {}, 0.25F, 5) != first);
  std::size_t kept = 0;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    REQUIRE((first[i] == 0 || first[i] == doctest::Approx(1 / 0.75)));
    kept += first[i] != 0;
    if (i > 0) pairs += first[i] != 0 && first[i - 1] != 0;
  }
  CHECK(static_cast<double>(kept) / 1e5 == doctest::Approx(0.75).epsilon(0.01));
  CHECK(static_cast<double>(pairs) / 1e5 == doctest::Approx(0.75 * 0.75).epsilon(0.02));
}

TEST_CASE("rounding to each format equals rounding by arithmetic, denormals and limits included") {
  std::vector<float> values = random_floats(20000, 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(values[i], static_cast<int>(i % 60) - 40);
  for (float special : {0.0F, -0.0F, 65504.0F, 65519.9F, 65520.0F, -1e30F, INFINITY, 5.9e-8F,
                        2.9e-8F, 6.0975e-5F, 1.00048828125F, 3.3e38F})
    values.push_back(special);
  for (NumberFormat format : {NumberFormat::kFloat32, NumberFormat::kTf32, NumberFormat::kBfloat16,
                              NumberFormat::kFloat16}) {
    std::vector<float> rounded(values.size());
    round_to(format, static_cast<std::int64_t>(values.size()), values.data(), rounded.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(values[i]);
      REQUIRE(rounded[i] == reference::round_to(format, values[i]));
    }
  }
  float nan = NAN;
  round_to(NumberFormat::kFloat16, 1, &nan, &nan);
  CHECK(std::isnan(nan));
}

TEST_CASE("softmax, its logarithm and the loss in parts agree with the fused loss") {
  constexpr SoftmaxCrossEntropyShape kShape{513, 37};
  const std::vector<float> logits = random_floats(513 * 37, 1, 0, 4);
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 513; ++i) labels.push_back(i % 9 == 0 ? -1 : i % 37);
  std::vector<float> p(logits.size()), dlogits(p), softmax(p), logs(p), dlogs(p), parts(p);
  LossFigures fused;
  LossFigures split;
  softmax_cross_entropy_forward(kShape, logits.data(), labels.data(), p.data(), &fused);
  softmax_cross_entropy_backward(kShape, p.data(), labels.data(), dlogits.data(), 8);
  softmax_forward(513, 37, logits.data(), softmax.data());
  log_softmax_forward(513, 37, logits.data(), logs.data());
  nll_loss_forward(kShape, logs.data(), labels.data(), &split);
  nll_loss_backward(kShape, labels.data(), dlogs.data(), 8);
  log_softmax_backward(513, 37, logs.data(), dlogs.data(), parts.data());
  CHECK(largest_difference(softmax, p) < 1e-6);
  CHECK(largest_difference(parts, dlogits) < 1e-6);
  CHECK(split.loss == doctest::Approx(fused.loss).epsilon(1e-5));
  CHECK(split.correct == fused.correct);
  CHECK(split.counted == fused.counted);
  const std::vector<float> dy = random_floats(513 * 37, 2);
  std::vector<float> dx(dy);
  softmax_backward(513, 37, softmax.data(), dy.data(), dx.data());
  for (std::size_t row = 0; row < 513; row += 64) {
    double dot = 0;
    for (std::size_t c = 0; c < 37; ++c) dot += double{softmax[row * 37 + c]} * dy[row * 37 + c];
    for (std::size_t c = 0; c < 37; ++c) {
      const std::size_t i = row * 37 + c;
      CHECK(std::abs(dx[i] - softmax[i] * (dy[i] - dot)) < 1e-6);
    }
  }
}

TEST_CASE("bias-gelu and column sums equal their definitions at odd widths") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    constexpr std::int64_t kRows = 1100;
    constexpr std::int64_t kColumns = 37;
    const std::vector<float> x = random_floats(kRows * kColumns, 1);
    const std::vector<float> bias = random_floats(kColumns, 2);
    const std::vector<float> dy = random_floats(kRows * kColumns, 3);
    std::vector<float> y(x), dx(x), dbias(bias), sums(bias), expected(bias);
    bias_gelu_forward(kRows, kColumns, x.data(), bias.data(), y.data());
    bias_gelu_backward(kRows, kColumns, x.data(), bias.data(), dy.data(), dx.data(), dbias.data());
    column_sum(kRows, kColumns, dx.data(), sums.data());
    CHECK(largest_difference(dbias, sums) < 1e-5);
    for (std::size_t c = 0; c < kColumns; ++c) {
      double total = 0;
      for (std::size_t row = 0; row < kRows; ++row) total += dx[row * kColumns + c];
      expected[c] = static_cast<float>(total);
    }
    CHECK(largest_difference(sums, expected) < 1e-5);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = double{x[i]} + bias[i % kColumns];
      REQUIRE(std::abs(y[i] - reference::gelu(z)) < 2e-6 * (1 + std::abs(z)));
    }
  }
}

TEST_CASE("embeddings gather rows, add positions, and scatter gradients back") {
  constexpr EmbeddingShape kShape{6, 3, 37, 5};
  const std::vector<std::int32_t> tokens = {4, 0, 4, -1, 4, 1};
  const std::vector<float> table = random_floats(5 * 37, 1);
  const std::vector<float> positions = random_floats(3 * 37, 2);
  const std::vector<float> dy = random_floats(6 * 37, 3);
  std::vector<float> y(6 * 37, -7), dtable(5 * 37, -7), dpositions(3 * 37, -7);
  embedding_forward(kShape, tokens.data(), table.data(), positions.data(), y.data());
  embedding_backward(kShape, tokens.data(), dy.data(), dtable.data(), dpositions.data());
  for (std::size_t c = 0; c < 37; ++c) {
    CHECK(y[c] == table[4 * 37 + c] + positions[c]);
    CHECK(y[4 * 37 + c] == table[4 * 37 + c] + positions[37 + c]);
    CHECK(y[3 * 37 + c] == 0);
    CHECK(dtable[4 * 37 + c] == doctest::Approx(dy[c] + dy[2 * 37 + c] + dy[4 * 37 + c]));
    CHECK(dtable[2 * 37 + c] == 0);
    CHECK(dpositions[c] == doctest::Approx(dy[c]));  // the other place is padding
  }
}

}  // namespace headway::kernels
