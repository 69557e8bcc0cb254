// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/adam/op.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/parallel.h"
#include "kernels/trust_ratio/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

struct Tensor {
  std::vector<float> p, m, v, g, master, direction;
  bool half;
  Tensor(std::int64_t count, std::uint32_t seed, bool with_master = false)
      : p(random_floats(count, seed)),
        m(random_floats(count, seed + 1)),
        v(random_floats(count, seed + 2)),
        g(random_floats(count, seed + 3)),
        master(p),
        direction(p),
        half(with_master) {
    for (float& square : v) square = std::abs(square);
  }
  AdamTensor view() {
    return {p.data(),
            m.data(),
            v.data(),
            g.data(),
            half ? master.data() : nullptr,
            static_cast<std::int64_t>(p.size()),
            half ? NumberFormat::kBfloat16 : NumberFormat::kFloat32};
  }
};

AdamStep step() {
  AdamStep by;
  by.rate = 0.01F;
  by.decay = 0.1F;
  by.gradient_scale = 0.5F;
  return at_step(by, 3);
}

}  // namespace

TEST_CASE("adam over many tensors equals its reference, master copies included") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    std::vector<Tensor> fast;
    std::vector<Tensor> plain;
    for (std::int64_t count : {5, 1, 30000, 16, 20000, 0, 7}) {
      fast.emplace_back(count, static_cast<std::uint32_t>(count), count % 2 == 0);
      plain.emplace_back(count, static_cast<std::uint32_t>(count), count % 2 == 0);
    }
    std::vector<AdamTensor> views;
    for (Tensor& tensor : fast) views.push_back(tensor.view());
    adam_multi_tensor(views, step());
    for (std::size_t i = 0; i < fast.size(); ++i) {
      reference::adam(plain[i].view(), step());
      CHECK(largest_difference(fast[i].m, plain[i].m) < 1e-6);
      CHECK(largest_difference(fast[i].v, plain[i].v) < 1e-6);
      CHECK(largest_difference(fast[i].master, plain[i].master) < 1e-6);
      // A rounding boundary between the two may cost one unit of BF16.
      CHECK(largest_difference(fast[i].p, plain[i].p) < (fast[i].half ? 8e-3 : 1e-6));
    }
  }
}

TEST_CASE("the seven passes of an unfused adam give what the fused one gives") {
  Tensor parts(1237, 3);
  Tensor fused(1237, 3);
  std::vector<float> scratch(1237);
  AdamStep by = step();
  for (int part = 0; part < kAdamPasses; ++part) adam_pass(part, parts.view(), by, scratch.data());
  const std::vector<AdamTensor> view = {fused.view()};
  adam_multi_tensor(view, by);
  CHECK(largest_difference(parts.m, fused.m) < 1e-6);
  CHECK(largest_difference(parts.v, fused.v) < 1e-6);
  CHECK(largest_difference(parts.p, fused.p) < 1e-6);
}

TEST_CASE("lamb moves a tensor by its rate times its own norm") {
  Tensor a(5000, 1);
  const std::vector<float> before = a.p;
  const std::vector<AdamTensor> views = {a.view()};
  const std::vector<float*> directions = {a.direction.data()};
  AdamStep by = step();
  lamb_directions(views, by, directions);
  double r = std::abs(a.direction[7] -
                      (a.m[7] * by.correction1 / (std::sqrt(a.v[7] * by.correction2) + by.epsilon) +
                       by.decay * before[7]));
  CHECK(r < 1e-5);
  std::vector<double> p2(1), r2(1);
  const std::vector<NormTensor> parameters = {{a.p.data(), 5000}};
  const std::vector<NormTensor> steps = {{a.direction.data(), 5000}};
  squared_norms(parameters, p2);
  squared_norms(steps, r2);
  lamb_apply(views, by, directions, p2, r2);
  double moved = 0;
  double norm = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    moved += std::pow(double{a.p[i]} - before[i], 2);
    norm += std::pow(double{before[i]}, 2);
  }
  CHECK(std::sqrt(moved) == doctest::Approx(0.01 * std::sqrt(norm)).epsilon(1e-3));
  CHECK(lamb_ratio(0, 4) == 1);
  CHECK(lamb_ratio(4, 0) == 1);
}

TEST_CASE("lars steps by the trust coefficient times the ratio of the norms") {
  Tensor a(3000, 5);
  std::fill(a.m.begin(), a.m.end(), 0.0F);
  const std::vector<float> before = a.p;
  const LarsStep by{0.5F, 0.9F, 0.01F, 0.002F, 1};
  std::vector<double> p2(1), g2(1);
  const std::vector<NormTensor> parameters = {{a.p.data(), 3000}};
  const std::vector<NormTensor> gradients = {{a.g.data(), 3000}};
  squared_norms(parameters, p2);
  squared_norms(gradients, g2);
  const std::vector<AdamTensor> views = {a.view()};
  lars_apply(views, by, p2, g2);
  const double ratio = 0.002 * std::sqrt(p2[0]) / (std::sqrt(g2[0]) + 0.01 * std::sqrt(p2[0]));
  for (std::size_t i = 0; i < before.size(); i += 100)
    CHECK(a.p[i] ==
          doctest::Approx(before[i] - 0.5 * ratio * (a.g[i] + 0.01 * before[i])).epsilon(1e-4));
}

TEST_CASE("the loss scale halves on overflow, skips that step, and doubles after 2000 good ones") {
  OptimizerState state;
  CHECK(state.loss_scale() == 65536);
  std::vector<float> good = {65536, -131072, 0};
  std::vector<GradientTensor> tensors = {{good.data(), 3}};
  unscale(tensors, state);
  CHECK(good == std::vector<float>{1, -2, 0});
  CHECK(!state.skip());
  end_step(state, true);
  CHECK(state.taken == 1);
  for (float bad : {INFINITY, NAN}) {
    std::vector<float> gradients = {1, bad, 2};
    tensors = {{good.data(), 3}, {gradients.data(), 3}};
    const float before = state.loss_scale();
    unscale(tensors, state);
    CHECK(state.skip());
    end_step(state, true);
    CHECK(!state.skip());
    CHECK(state.loss_scale() == before / 2);
    CHECK(state.taken == 1);
  }
  for (int i = 0; i < 2000; ++i) end_step(state, true);
  CHECK(state.loss_scale() == 32768);
}

}  // namespace headway::kernels
