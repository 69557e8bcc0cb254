// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kernels/embedding/launch.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/max_pool/launch.h"
#include "kernels/softmax_cross_entropy/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::LossFigures;
using kernels::SoftmaxCrossEntropyShape;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

struct Expected {
  std::vector<float> probabilities, dlogits;
  double loss = 0;
  float correct = 0, counted = 0;
};

Expected expected(SoftmaxCrossEntropyShape s, const std::vector<float>& logits,
                  const std::vector<std::int32_t>& labels, double scale) {
  Expected e;
  e.probabilities.resize(logits.size());
  e.dlogits.resize(logits.size());
  for (std::int32_t label : labels) e.counted += label >= 0;
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const float* x = logits.data() + row * s.classes;
    const float* largest = std::max_element(x, x + s.classes);
    const std::int32_t label = labels[static_cast<std::size_t>(row)];
    double sum = 0;
    for (int c = 0; c < s.classes; ++c) sum += std::exp(double{x[c]} - *largest);
    for (int c = 0; c < s.classes; ++c) {
      const auto i = static_cast<std::size_t>(row * s.classes + c);
      const double p = std::exp(double{x[c]} - *largest) / sum;
      e.probabilities[i] = static_cast<float>(p);
      if (label >= 0) e.dlogits[i] = static_cast<float>(scale * (p - (c == label)) / e.counted);
    }
    if (label < 0) continue;
    e.loss += (std::log(sum) - (double{x[label]} - *largest)) / e.counted;
    e.correct += largest - x == label;
  }
  return e;
}

void check_figures(const LossFigures& got, const Expected& e) {
  CHECK(got.loss == doctest::Approx(e.loss).epsilon(1e-5));
  CHECK(got.correct == e.correct);
  CHECK(got.counted == e.counted);
}

}  // namespace

TEST_CASE("softmax cross entropy and its gradient agree with double precision in every variant") {
  struct Case {
    SoftmaxCrossEntropyShape shape;
    SoftmaxVariant variant;
  };
  const Plain<kernels::OptimizerState> state({{-13, 0, 0, 0}});  // a loss scale of 8
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const Case& c : {Case{{1, 2}, SoftmaxVariant::kBest},
                          {{70, 10}, SoftmaxVariant::kBest},
                          {{70, 10}, SoftmaxVariant::kNaive},
                          {{33, 1000}, SoftmaxVariant::kBest},
                          {{9, 1031}, SoftmaxVariant::kBest},
                          {{5, 8192}, SoftmaxVariant::kBest},
                          {{3, 8192}, SoftmaxVariant::kNaive},
                          {{3, 8200}, SoftmaxVariant::kBest}}) {
      CAPTURE(c.shape.classes);
      const std::int64_t count = c.shape.rows * c.shape.classes;
      auto logits = rounded(format, random_floats(count, 1, 0, 3));
      std::vector<std::int32_t> labels;
      std::mt19937 random(2);
      for (std::int64_t i = 0; i < c.shape.rows; ++i)
        labels.push_back(i % 7 == 3 ? -1
                                    : static_cast<std::int32_t>(
                                          random() % static_cast<unsigned>(c.shape.classes)));
      labels[0] = 1;  // of two equal largest logits the first is the answer
      logits[0] = logits[1] = 20;
      const Expected e = expected(c.shape, logits, labels, 8);
      const Array x(format, logits), p(format, count), d(format, count), again(format, count);
      const Plain<std::int32_t> dev_labels(labels);
      const Plain<LossFigures> figures({{-1, -1, -1}});
      const Array scratch(kFull, softmax_cross_entropy_scratch_floats(c.shape));
      SoftmaxCrossEntropyArrays a{x.get(),         dev_labels.get(),
                                  p.get(),         d.get(),
                                  figures.get(),   reinterpret_cast<const float*>(state.get()),
                                  scratch.floats()};
      gpu().run(softmax_cross_entropy(gpu().limits(), format, c.shape, a, c.variant));
      check_figures(figures.read().front(), e);
      CHECK(largest_difference(p.read(), e.probabilities) < tolerance(format));
      CHECK(largest_difference(d.read(), e.dlogits) < tolerance(format));
      a.dlogits = again.get();
      gpu().run(softmax_cross_entropy_backward(gpu().limits(), format, c.shape, a));
      CHECK(largest_difference(again.read(), e.dlogits) < 2 * tolerance(format));
      // In place, without probabilities.
      a.probabilities = nullptr;
      a.dlogits = x.get();
      gpu().run(softmax_cross_entropy(gpu().limits(), format, c.shape, a, c.variant));
      CHECK(largest_difference(x.read(), e.dlogits) < tolerance(format));
    }
  }
}

TEST_CASE("a batch without a counted row has no loss and no gradient") {
  const SoftmaxCrossEntropyShape shape{3, 5};
  const Array x(kFull, random_floats(15, 1)), d(kFull, 15), scratch(kFull, 7);
  const Plain<std::int32_t> labels({-1, -1, -1});
  const Plain<LossFigures> figures({{9, 9, 9}});
  gpu().run(softmax_cross_entropy(
      gpu().limits(), kFull, shape,
      {x.get(), labels.get(), nullptr, d.get(), figures.get(), nullptr, scratch.floats()}));
  CHECK(figures.read().front().loss == 0);
  CHECK(figures.read().front().counted == 0);
  CHECK(d.read() == std::vector<float>(15));
}

TEST_CASE("embeddings are looked up and their gradients added, with padding and positions") {
  for (NumberFormat format : kFormats) {
    for (kernels::EmbeddingShape s : {kernels::EmbeddingShape{12, 4, 5, 9}, {2100, 21, 64, 50}}) {
      CAPTURE(name_of(format));
      CAPTURE(s.tokens);
      std::vector<std::int32_t> tokens;
      std::mt19937 random(3);
      for (std::int64_t i = 0; i < s.tokens; ++i)
        tokens.push_back(
            i % 5 == 4 ? -1
                       : static_cast<std::int32_t>(random() % static_cast<unsigned>(s.entries)));
      const auto table = rounded(format, random_floats(s.entries * s.columns, 4)),
                 positions = rounded(format, random_floats(s.length * s.columns, 5)),
                 dy = rounded(format, random_floats(s.tokens * s.columns, 6));
      std::vector<float> y(dy.size()), dtable(table.size()), dpositions(positions.size());
      kernels::embedding_forward(s, tokens.data(), table.data(), positions.data(), y.data());
      kernels::embedding_backward(s, tokens.data(), dy.data(), dtable.data(), dpositions.data());
      const Plain<std::int32_t> dev_tokens(tokens);
      const Array dev_table(format, table), dev_positions(format, positions), dev_dy(format, dy),
          dev_y(format, s.tokens * s.columns);
      EmbeddingArrays a{dev_tokens.get(), dev_table.get(), dev_positions.get(),
                        dev_y.get(),      dev_dy.get(),    nullptr,
                        nullptr};
      gpu().run(embedding_forward(gpu().limits(), format, s, a));
      CHECK(dev_y.read() == rounded(format, y));
      for (EmbeddingVariant variant : {EmbeddingVariant::kAtomic, EmbeddingVariant::kOrdered}) {
        const Array dev_dtable(kFull, s.entries * s.columns),
            dev_dpositions(kFull, s.length * s.columns);
        a.dtable = dev_dtable.floats();
        a.dpositions = dev_dpositions.floats();
        gpu().run(embedding_backward(gpu().limits(), format, s, a, variant));
        CHECK(largest_difference(dev_dtable.read(), dtable) < 2e-5);
        CHECK(largest_difference(dev_dpositions.read(), dpositions) < 2e-5);
      }
    }
  }
}

TEST_CASE("max pooling and its gradient are those of the processor") {
  for (NumberFormat format : kFormats) {
    for (kernels::MaxPoolShape s : {kernels::MaxPoolShape{2, 7, 9, 5, 3, 2, 1},
                                    {1, 8, 8, 16, 2, 2, 0},
                                    {3, 5, 5, 24, 3, 1, 1}}) {
      CAPTURE(name_of(format));
      CAPTURE(s.channels);
      const auto x = rounded(format, random_floats(s.inputs(), 1)),
                 dy = rounded(format, random_floats(s.results(), 2));
      std::vector<float> y(dy), dx(x);
      std::vector<std::uint8_t> place(y.size());
      kernels::max_pool_forward(s, x.data(), y.data(), place.data());
      kernels::max_pool_backward(s, dy.data(), place.data(), dx.data());
      const Array dev_x(format, x), dev_y(format, s.results()), dev_dy(format, dy),
          dev_dx(format, s.inputs());
      const Plain<std::uint8_t> dev_place(std::vector<std::uint8_t>(place.size(), 77));
      gpu().run(
          max_pool_forward(gpu().limits(), format, s, dev_x.get(), dev_y.get(), dev_place.get()));
      CHECK(dev_y.read() == y);
      CHECK(dev_place.read() == place);
      gpu().run(max_pool_backward(gpu().limits(), format, s, dev_dy.get(), dev_place.get(),
                                  dev_dx.get()));
      CHECK(largest_difference(dev_dx.read(), dx) < tolerance(format));
    }
  }
}

}  // namespace headway::test
