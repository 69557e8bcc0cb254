// SPDX-License-Identifier: MIT
#include "kernels/lstm/op.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

struct Layer {
  LstmShape s;
  std::vector<float> input, weights, packed, gates, cell, h, before, dh, dgates, later, dcell;

  explicit Layer(LstmShape shape) : s(shape) {
    const std::int64_t n = s.steps * s.rows * s.hidden;
    input = random_floats(4 * n, 1);
    weights = random_floats(4 * s.hidden * s.hidden, 2, 0, 0.3F);
    packed.resize(weights.size());
    dh = random_floats(n, 3);
    for (auto* each : {&gates, &dgates}) each->assign(static_cast<std::size_t>(4 * n), -7);
    for (auto* each : {&cell, &h, &before}) each->assign(static_cast<std::size_t>(n), -7);
    for (auto* each : {&later, &dcell})
      each->assign(static_cast<std::size_t>(s.rows * s.hidden), 0);
    lstm_pack(s, weights.data(), packed.data());
  }
  LstmForward forward() {
    return {input.data(), packed.data(), gates.data(), cell.data(), h.data(), before.data()};
  }
  LstmBackward backward() {
    return {gates.data(),  cell.data(),  dh.data(),   weights.data(),
            dgates.data(), later.data(), dcell.data()};
  }
};

}  // namespace

TEST_CASE("a whole lstm layer equals its reference and its steps one by one") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (LstmShape s : {LstmShape{5, 3, 7}, {9, 16, 32}, {1, 1, 8}, {4, 2, 64}}) {
      Layer whole(s);
      lstm_forward(s, s.steps, whole.forward());
      std::vector<float> plain(whole.h.size());
      reference::lstm_forward(s, whole.input.data(), whole.weights.data(), plain.data());
      CHECK(largest_difference(whole.h, plain) < 3e-6);
      Layer steps(s);
      for (std::int64_t t = 0; t < s.steps; ++t) {
        lstm_step_product(s, t, steps.forward());
        lstm_step_cell(s, t, steps.forward());
      }
      CHECK(largest_difference(steps.h, whole.h) < 1e-6);
      CHECK(largest_difference(steps.before, whole.before) < 1e-6);
      lstm_backward(s, s.steps, whole.backward());
      for (std::int64_t t = s.steps; t-- > 0;) {
        lstm_backward_cell(s, t, steps.backward());
        lstm_backward_product(s, t, steps.backward());
      }
      CHECK(largest_difference(steps.dgates, whole.dgates) < 1e-5);
    }
  }
}

TEST_CASE("the gradient of an lstm layer agrees with differences of the reference") {
  constexpr LstmShape kShape{4, 2, 5};
  Layer layer(kShape);
  lstm_forward(kShape, kShape.steps, layer.forward());
  lstm_backward(kShape, kShape.steps, layer.backward());
  std::vector<float> h(layer.h.size());
  for (std::size_t i = 0; i < layer.input.size(); i += 3) {
    auto loss = [&](float change) {
      const float kept = layer.input[i];
      layer.input[i] += change;
      reference::lstm_forward(kShape, layer.input.data(), layer.weights.data(), h.data());
      layer.input[i] = kept;
      double sum = 0;
      for (std::size_t k = 0; k < h.size(); ++k) sum += double{h[k]} * layer.dh[k];
      return sum;
    };
    const double slope = (loss(1e-2F) - loss(-1e-2F)) / 2e-2;
    CHECK(std::abs(layer.dgates[i] - slope) < 1e-3 * (1 + std::abs(slope)));
  }
}

TEST_CASE("steps that no sequence uses are skipped and leave zeros") {
  constexpr LstmShape kShape{6, 3, 8};
  const std::vector<std::int32_t> tokens = {1,  1,  1,  1,  -1, 1,  -1, 5,  -1,
                                            -1, -1, -1, -1, -1, -1, -1, -1, -1};
  CHECK(used_steps(kShape, tokens.data()) == 3);
  Layer all(kShape);
  Layer some(kShape);
  lstm_forward(kShape, 6, all.forward());
  lstm_forward(kShape, 3, some.forward());
  lstm_backward(kShape, 3, some.backward());
  for (std::size_t i = 0; i < some.h.size(); ++i)
    REQUIRE(some.h[i] == (i < 3 * 3 * 8 ? all.h[i] : 0));
  for (std::size_t i = 3 * 3 * 32; i < some.dgates.size(); ++i) REQUIRE(some.dgates[i] == 0);
}

}  // namespace headway::kernels
