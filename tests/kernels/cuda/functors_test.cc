// SPDX-License-Identifier: MIT
#include "kernels/cuda/functors.h"

#include <doctest/doctest.h>

#include "kernels/adam/op.h"
#include "kernels/bias_activation/op.h"
#include "kernels/cast/op.h"
#include "kernels/number_format.h"
#include "kernels/row_program/op.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/trust_ratio/op.h"
#include "tests/kernels/random_array.h"

namespace headway::kernels::cuda {

TEST_CASE("GELU and its slope agree with double precision, and are finite far out") {
  for (float x = -12; x < 12; x += 0.037F) {
    CAPTURE(x);
    CHECK(gelu(x) == doctest::Approx(reference::gelu(x)).epsilon(1e-5));
    const double slope = (reference::gelu(x + 1e-5) - reference::gelu(x - 1e-5)) / 2e-5;
    CHECK(std::abs(gelu_slope(x) - slope) < 1e-5);
  }
  for (float x : {100.0F, 1e10F, 3e38F}) {
    CHECK(gelu_slope(x) == 1);
    CHECK(gelu_slope(-x) == 0);
    CHECK(gelu(-x) == 0);
  }
}

TEST_CASE("moments can be made in pieces and joined, far from zero too") {
  const auto x = test::random_floats(10'000, 1, 5000, 2);
  double mean = 0, squares = 0;
  for (float value : x) mean += value / 1e4;
  for (float value : x) squares += (value - mean) * (value - mean);
  Moments all;
  for (std::size_t first = 0; first < x.size(); first += 700) {
    Moments part;
    for (std::size_t i = first; i < std::min(x.size(), first + 700); ++i) part.add(x[i]);
    all.add(part);
    all.add(Moments{});  // nothing changes nothing
  }
  CHECK(all.count == 10'000);
  CHECK(all.mean == doctest::Approx(mean).epsilon(1e-6));
  CHECK(all.squares == doctest::Approx(squares).epsilon(1e-3));
}

TEST_CASE("TF32 is rounded as the reference rounds it") {
  auto values = test::random_floats(5000, 2, 0, 100);
  for (float special : {0.0F, -0.0F, 1.0F + 1.0F / 2048, 1.0F + 3.0F / 2048, 3.4e38F, 1e-40F})
    values.push_back(special);
  for (float value : values)
    CHECK(round_to_tf32(value) == reference::round_to(NumberFormat::kTf32, value));
}

TEST_CASE("dropout drops what the processor's kernel drops") {
  RowProgram program{3, 1000, {RowKind::kFull}, {{RowOp::kDropout, 0, -1, 0.3F, 7}}, {1}};
  const std::vector<float> ones(3000, 1.0F);
  std::vector<float> out(3000);
  const float* in[] = {ones.data()};
  float* to[] = {out.data()};
  run_row_program(program, in, to, 11);
  const std::uint32_t key = dropout_key(7, 11);
  const auto limit = static_cast<std::uint32_t>(static_cast<double>(0.3F) * 16777216.0);
  for (std::size_t i = 0; i < out.size(); ++i) CHECK((out[i] != 0) == keeps(i, key, limit));
}

TEST_CASE("an element of SGD, Adam and the trust ratios are those of the processor") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto x = test::random_floats(4, seed);
    float p = x[0], m = x[1], v = x[2] * x[2];
    float reference_p = p, reference_m = m, reference_v = v;
    const AdamStep step = at_step({1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F}, seed + 1);
    reference::adam({&reference_p, &reference_m, &reference_v, &x[3], nullptr, 1}, step);
    adam_element({step.rate, step.beta1, step.beta2, step.epsilon, step.decay, step.correction1,
                  step.correction2},
                 x[3], p, m, v);
    CHECK(p == doctest::Approx(reference_p).epsilon(1e-5));
    CHECK(v == doctest::Approx(reference_v).epsilon(1e-5));
    p = reference_p = x[0], m = reference_m = x[1];
    reference::sgd_momentum({&reference_p, &reference_m, &x[3], 1}, {0.1F, 0.9F, 0.01F});
    sgd_element(0.1F, 0.9F, 0.01F, x[3], p, m);
    CHECK(p == doctest::Approx(reference_p).epsilon(1e-5));
  }
  const LarsStep lars{0.1F, 0.9F, 0.01F, 0.02F, 0.5F};
  for (double a : {0.0, 2.0, 1e9})
    for (double b : {0.0, 3.0, 1e-9}) {
      CHECK(lamb_trust(a, b) == lamb_ratio(a, b));
      CHECK(lars_trust(lars.trust, lars.decay, lars.gradient_scale, a, b) ==
            doctest::Approx(lars_ratio(lars, a, b)));
    }
}

}  // namespace headway::kernels::cuda
