// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "kernels/attention/launch.h"
#include "kernels/attention/op.h"
#include "kernels/heads/launch.h"
#include "kernels/sequence/op.h"
#include "kernels/softmax_cross_entropy/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::AttentionShape;

constexpr NumberFormat kFull = NumberFormat::kFloat32;
constexpr AttentionShape kShapes[] = {
    {1, 1, 1, 4, 1, 0},   {2, 13, 2, 8, 13, 0},  {1, 40, 3, 33, 40, 0},  {2, 24, 2, 16, 8, 0},
    {2, 24, 2, 16, 8, 3}, {1, 64, 1, 64, 64, 0}, {1, 96, 2, 40, 48, 24}, {1, 70, 1, 128, 70, 0},
};

std::vector<float> zeros(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count));
}

}  // namespace

TEST_CASE("fused attention agrees with double precision, its gradient with the processor's") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const AttentionShape& s : kShapes) {
      CAPTURE(s.length);
      CAPTURE(s.shift);
      const std::int64_t tokens = s.batch * s.length, columns = s.columns();
      const auto qkv = rounded(format, random_floats(tokens * 3 * columns, 1)),
                 dy = rounded(format, random_floats(tokens * columns, 2));
      auto y = zeros(tokens * columns), dqkv = zeros(tokens * 3 * columns);
      kernels::reference::attention_forward(s, qkv.data(), y.data());
      const Array dev_qkv(format, qkv), dev_dy(format, dy), dev_y(format, tokens * columns),
          dev_dqkv(format, tokens * 3 * columns), lse(kFull, s.groups() * s.window),
          shares(kFull, s.groups() * s.window);
      gpu().run(
          attention_forward(gpu().limits(), format, s, dev_qkv.get(), dev_y.get(), lse.floats()));
      CHECK(largest_difference(dev_y.read(), y) < tolerance(format));
      // Backward from what forward left.
      const auto made_y = dev_y.read(), made_lse = lse.read();
      kernels::attention_backward(s, qkv.data(), made_y.data(), made_lse.data(), dy.data(),
                                  dqkv.data());
      gpu().run(attention_backward(gpu().limits(), format, s, dev_qkv.get(), dev_y.get(),
                                   lse.floats(), dev_dy.get(), dev_dqkv.get(), shares.floats()));
      CHECK(largest_difference(dev_dqkv.read(), dqkv) < tolerance(format));
    }
  }
}

TEST_CASE(
    "heads are split and joined, rows rolled and swapped, scores masked as on the processor") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const AttentionShape& s : kShapes) {
      CAPTURE(s.length);
      const std::int64_t tokens = s.batch * s.length, columns = s.columns(), n = tokens * columns;
      const auto qkv = rounded(format, random_floats(3 * n, 1));
      auto q = zeros(n), k = q, v = q, y = q;
      kernels::split_heads(s, qkv.data(), q.data(), k.data(), v.data());
      const Array joined(format, qkv), dev_q(format, n), dev_k(format, n), dev_v(format, n),
          again(format, 3 * n), dev_y(format, n), parts(format, n);
      gpu().run(split_heads(gpu().limits(), format, s, joined.get(), dev_q.get(), dev_k.get(),
                            dev_v.get()));
      CHECK(dev_q.read() == q);
      CHECK(dev_k.read() == k);
      CHECK(dev_v.read() == v);
      gpu().run(join_heads(gpu().limits(), format, s, dev_q.get(), dev_k.get(), dev_v.get(),
                           again.get()));
      CHECK(again.read() == qkv);
      kernels::merge_heads(s, q.data(), y.data());
      gpu().run(merge_heads(gpu().limits(), format, s, dev_q.get(), dev_y.get()));
      CHECK(dev_y.read() == y);
      gpu().run(split_merged(gpu().limits(), format, s, dev_y.get(), parts.get()));
      CHECK(parts.read() == q);
      kernels::roll_rows(s.batch, s.length, columns, -s.shift, y.data(), q.data());
      gpu().run(roll_rows(gpu().limits(), format, s.batch, s.length, columns, -s.shift, dev_y.get(),
                          parts.get()));
      CHECK(parts.read() == q);
      kernels::swap_major(s.batch, s.length, columns, y.data(), q.data());
      gpu().run(
          swap_major(gpu().limits(), format, s.batch, s.length, columns, dev_y.get(), parts.get()));
      CHECK(parts.read() == q);

      const std::int64_t scores = s.groups() * s.window * s.window;
      const auto x = rounded(format, random_floats(scores, 3));
      auto masked = zeros(scores);
      kernels::attention_mask(s, x.data(), masked.data());
      for (float& value : masked)
        if (value < -65504) value = format == kFull ? -1e30F : -65504;
      const Array dev_x(format, x), dev_masked(format, scores);
      gpu().run(attention_mask(gpu().limits(), format, s, dev_x.get(), dev_masked.get()));
      CHECK(dev_masked.read() == rounded(format, masked));
    }
    // Three sequences of four tokens, two rows of scores each.
    const Plain<std::int32_t> tokens({1, -1, 2, 3, -1, -1, 4, 5, -1, 6, -1, -1});
    const auto x = rounded(format, random_floats(24, 4));
    auto masked = zeros(24);
    kernels::padding_mask(3, 2, 4, tokens.read().data(), x.data(), masked.data());
    for (float& value : masked)
      if (value < -65504) value = format == kFull ? -1e30F : -65504;
    const Array dev_x(format, x), dev_masked(format, 24);
    gpu().run(
        padding_mask(gpu().limits(), format, 3, 2, 4, tokens.get(), dev_x.get(), dev_masked.get()));
    CHECK(dev_masked.read() == rounded(format, masked));
  }
}

TEST_CASE("a loss in two parts gives the processor's figures and gradient") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (kernels::SoftmaxCrossEntropyShape s :
         {kernels::SoftmaxCrossEntropyShape{1, 2}, {70, 11}, {20, 1000}}) {
      const std::int64_t count = s.rows * s.classes;
      auto logs = random_floats(count, 1, -5);
      logs[0] = logs[1] = 3;  // of two equal the first is the answer
      logs = rounded(format, logs);
      std::vector<std::int32_t> labels;
      for (std::int64_t i = 0; i < s.rows; ++i)
        labels.push_back(i % 7 == 3 ? -1 : static_cast<std::int32_t>(i * 31 % s.classes));
      kernels::LossFigures expected;
      auto dx = zeros(count);
      kernels::nll_loss_forward(s, logs.data(), labels.data(), &expected);
      kernels::nll_loss_backward(s, labels.data(), dx.data(), 8);
      const Array dev_logs(format, logs), dev_dx(format, count),
          scratch(kFull, softmax_cross_entropy_scratch_floats(s));
      const Plain<std::int32_t> dev_labels(labels);
      const Plain<kernels::LossFigures> figures({{-1, -1, -1}});
      const Plain<float> state({-13, 0, 0, 0});  // a loss scale of 8
      const SoftmaxCrossEntropyArrays a{dev_logs.get(),  dev_labels.get(), nullptr,
                                        dev_dx.get(),    figures.get(),    state.get(),
                                        scratch.floats()};
      gpu().run(nll_loss_forward(gpu().limits(), format, s, a));
      CHECK(figures.read().front().loss == doctest::Approx(expected.loss).epsilon(1e-5));
      CHECK(figures.read().front().correct == expected.correct);
      CHECK(figures.read().front().counted == expected.counted);
      gpu().run(nll_loss_backward(gpu().limits(), format, s, a));
      CHECK(largest_difference(dev_dx.read(), dx) < tolerance(format));
    }
  }
}

}  // namespace headway::test
