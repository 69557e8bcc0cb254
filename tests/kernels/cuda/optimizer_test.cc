// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <limits>

#include "kernels/adam/launch.h"
#include "kernels/loss_scaler/launch.h"
#include "kernels/sgd_momentum/launch.h"
#include "kernels/trust_ratio/launch.h"
#include "kernels/update_passes/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// Tensors on both sides: more than one small table holds, of sizes around those of chunks and packs.
struct Tensors {
  std::vector<std::int64_t> counts;
  std::vector<std::vector<float>> p, m, v, g, d;
  std::deque<Array> arrays;  // an array stays at its place
  std::vector<TableTensor> table;
  std::vector<kernels::AdamTensor> host;
  std::vector<float*> directions;

  Tensors(NumberFormat format, NumberFormat copy_format, std::size_t offset) {
    counts = {1, 7, 8, 9, 300, 16384, 16385, 50'000};
    for (std::int64_t i = 0; i < 90; ++i) counts.push_back(3 + i);
    std::uint32_t seed = 1;
    for (std::int64_t count : counts) {
      p.push_back(random_floats(count, seed++));
      m.push_back(random_floats(count, seed++, 0, 0.1F));
      v.push_back(random_floats(count, seed++));
      for (float& x : v.back()) x = x * x;
      g.push_back(rounded(format, random_floats(count, seed++)));
      d.push_back(std::vector<float>(g.back().size()));
    }
    auto on_device = [&](NumberFormat f, const std::vector<float>& values) {
      return arrays.emplace_back(f, values, offset).get();
    };
    for (std::size_t i = 0; i < counts.size(); ++i) {
      TableTensor t;
      t.parameter = static_cast<float*>(on_device(kFull, p[i]));
      t.first = static_cast<float*>(on_device(kFull, m[i]));
      t.second = static_cast<float*>(on_device(kFull, v[i]));
      t.gradient = on_device(format, g[i]);
      t.direction = static_cast<float*>(on_device(kFull, d[i]));
      t.copy = on_device(copy_format, d[i]);
      t.count = counts[i];
      table.push_back(t);
      host.push_back(
          {p[i].data(), m[i].data(), v[i].data(), g[i].data(), nullptr, counts[i], kFull});
      directions.push_back(d[i].data());
    }
  }
  /// Largest difference of array `which` (0: parameter, 1: first, 2: second, 4: direction, 5: copy).
  double difference(int which, const std::vector<std::vector<float>>& expected) {
    double largest = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      largest = std::max(
          largest,
          largest_difference(arrays[i * 6 + static_cast<std::size_t>(which)].read(), expected[i]));
    return largest;
  }
};

Limits with_parameters(std::size_t bytes) {
  Limits limits = gpu().limits();
  limits.parameter_bytes = bytes;
  return limits;
}
constexpr std::size_t kParameterBytes[] = {kSmallParameters, kLargeParameters};

}  // namespace

TEST_CASE("SGD over many tensors agrees with double precision, for either size of table") {
  for (NumberFormat format : kFormats) {
    for (std::size_t bytes : kParameterBytes) {
      for (std::size_t offset : {0U, 1U}) {
        CAPTURE(name_of(format));
        CAPTURE(bytes);
        Tensors t(format, NumberFormat::kFloat16, offset);
        TableStep by;
        by.rate = 0.1F, by.momentum = 0.9F, by.decay = 0.01F;
        by.copy_format = CopyFormat::kFloat16;
        const Launches launches = sgd_momentum(with_parameters(bytes), format, by, t.table);
        CHECK(launches.size() == (bytes == kLargeParameters ? 1 : 2));
        gpu().run(launches);
        for (std::size_t i = 0; i < t.counts.size(); ++i)
          kernels::reference::sgd_momentum(
              {t.p[i].data(), t.m[i].data(), t.g[i].data(), t.counts[i]}, {0.1F, 0.9F, 0.01F});
        CHECK(t.difference(0, t.p) < 1e-6);
        CHECK(t.difference(1, t.m) < 1e-6);
        CHECK(t.difference(5, t.p) < tolerance(NumberFormat::kFloat16));
      }
    }
  }
}

TEST_CASE("Adam agrees with double precision, with corrections from the host and from the device") {
  for (NumberFormat format : kFormats) {
    for (bool on_device : {false, true}) {
      CAPTURE(name_of(format));
      CAPTURE(on_device);
      Tensors t(format, kFull, 0);
      const Plain<kernels::OptimizerState> state({{0, 0, 0, 4}});  // four steps were taken
      const kernels::AdamStep step = kernels::at_step({1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F}, 5);
      TableStep by =
          table_step(on_device ? kernels::AdamStep{1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F} : step);
      if (on_device) by.state = reinterpret_cast<float*>(state.get());
      by.copy_format = CopyFormat::kRoundedBfloat16;
      gpu().run(adam(gpu().limits(), format, by, t.table));
      for (const kernels::AdamTensor& tensor : t.host) kernels::reference::adam(tensor, step);
      CHECK(t.difference(0, t.p) < 1e-5);
      CHECK(t.difference(1, t.m) < 1e-6);
      CHECK(t.difference(2, t.v) < 1e-6);
      for (std::size_t i = 0; i < t.counts.size(); ++i)
        CHECK(t.arrays[i * 6 + 5].read() ==
              rounded(NumberFormat::kBfloat16, t.arrays[i * 6].read()));
    }
  }
}

TEST_CASE("an update after an overflow changes nothing") {
  Tensors t(kFull, kFull, 0);
  const Plain<kernels::OptimizerState> state({{0, 1, 0, 4}});
  TableStep by = table_step({1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F});
  by.state = reinterpret_cast<float*>(state.get());
  gpu().run(adam(gpu().limits(), kFull, by, t.table));
  gpu().run(sgd_momentum(gpu().limits(), kFull, by, t.table));
  for (int pass = 0; pass < kernels::kAdamPasses; ++pass)
    gpu().run(adam_pass(gpu().limits(), kFull, pass, by, t.table));
  gpu().run(sgd_pass(gpu().limits(), kFull, SgdPass::kApply, by, t.table));
  CHECK(t.difference(0, t.p) == 0);
  CHECK(t.difference(1, t.m) == 0);
}

TEST_CASE("an update in elementwise passes agrees with double precision") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    Tensors sgd(format, NumberFormat::kFloat16, 0);
    TableStep by;
    by.rate = 0.1F, by.momentum = 0.9F, by.decay = 0.01F;
    by.copy_format = CopyFormat::kFloat16;
    for (SgdPass pass : {SgdPass::kDecay, SgdPass::kScale, SgdPass::kAccumulate, SgdPass::kApply})
      gpu().run(sgd_pass(gpu().limits(), format, pass, by, sgd.table));
    for (std::size_t i = 0; i < sgd.counts.size(); ++i)
      kernels::reference::sgd_momentum(
          {sgd.p[i].data(), sgd.m[i].data(), sgd.g[i].data(), sgd.counts[i]}, {0.1F, 0.9F, 0.01F});
    CHECK(sgd.difference(0, sgd.p) < 1e-6);
    CHECK(sgd.difference(1, sgd.m) < 1e-6);
    CHECK(sgd.difference(5, sgd.p) < tolerance(NumberFormat::kFloat16));

    Tensors t(format, kFull, 1);
    const Plain<kernels::OptimizerState> state({{0, 0, 0, 4}});
    TableStep step = table_step({1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F});
    step.state = reinterpret_cast<float*>(state.get());
    step.copy_format = CopyFormat::kRoundedFloat16;
    for (int pass = 0; pass < kernels::kAdamPasses; ++pass)
      gpu().run(adam_pass(gpu().limits(), format, pass, step, t.table));
    for (const kernels::AdamTensor& tensor : t.host)
      kernels::reference::adam(tensor, kernels::at_step({1e-2F, 0.9F, 0.999F, 1e-8F, 0.1F}, 5));
    CHECK(t.difference(0, t.p) < 1e-5);
    CHECK(t.difference(1, t.m) < 1e-6);
    CHECK(t.difference(2, t.v) < 1e-6);
    CHECK(t.difference(5, t.p) < tolerance(NumberFormat::kFloat16));
  }
}

TEST_CASE("norms, LAMB and LARS agree with the processor's") {
  for (NumberFormat format : kFormats) {
    for (std::size_t bytes : kParameterBytes) {
      CAPTURE(name_of(format));
      CAPTURE(bytes);
      const Limits limits = with_parameters(bytes);
      Tensors t(format, kFull, 0);
      const kernels::AdamStep step = kernels::at_step({1e-2F, 0.9F, 0.999F, 1e-6F, 0.1F}, 3);
      const std::size_t n = t.counts.size();
      const std::vector<double> none(n);
      const std::vector<double> chunks(static_cast<std::size_t>(count_chunks(t.table)));
      const Plain<double> parts(chunks), squares(none), others(none);
      TableStep by = table_step(step);
      by.parts = parts.get();
      auto norms = [&](NormOf of, NumberFormat f, const Plain<double>& to) {
        by.squares = to.get();
        gpu().run(squared_norms(limits, of, f, by, t.table));
      };
      auto check_norms = [&](const Plain<double>& got, const std::vector<std::vector<float>>& of) {
        const std::vector<double> sums = got.read();
        for (std::size_t i = 0; i < n; ++i) {
          double expected = 0;
          for (float x : of[i]) expected += double{x} * x;
          CHECK(sums[i] == doctest::Approx(expected).epsilon(1e-5));
        }
        return sums;
      };
      gpu().run(lamb_directions(limits, format, by, t.table));
      kernels::lamb_directions(t.host, step, t.directions);
      CHECK(t.difference(4, t.d) < 1e-5);
      norms(NormOf::kParameter, kFull, squares);
      norms(NormOf::kDirection, kFull, others);
      const auto parameter_squares = check_norms(squares, t.p);
      const auto direction_squares = check_norms(others, t.d);
      by.parameter_squares = squares.get();
      by.other_squares = others.get();
      gpu().run(lamb_apply(limits, by, t.table));
      kernels::lamb_apply(t.host, step, t.directions, parameter_squares, direction_squares);
      CHECK(t.difference(0, t.p) < 1e-5);

      const kernels::LarsStep lars{0.1F, 0.9F, 0.01F, 0.02F, 1};
      norms(NormOf::kParameter, kFull, squares);
      norms(NormOf::kGradient, format, others);
      check_norms(others, t.g);
      by.rate = lars.rate, by.momentum = lars.momentum, by.decay = lars.decay,
      by.trust = lars.trust;
      gpu().run(lars_apply(limits, format, by, t.table));
      kernels::lars_apply(t.host, lars, squares.read(), others.read());
      CHECK(t.difference(0, t.p) < 1e-5);
      CHECK(t.difference(1, t.m) < 1e-5);
    }
  }
}

TEST_CASE("gradients are divided by the loss scale, and an overflow is noted and ends the step") {
  for (NumberFormat format : kFormats) {
    for (bool overflow : {false, true}) {
      CAPTURE(name_of(format));
      Tensors t(format, kFull, 0);
      auto gradient = t.g[6];
      if (overflow) gradient.back() = std::numeric_limits<float>::infinity();
      const Array one(format, gradient);
      t.table[6].gradient = one.get();
      const Plain<kernels::OptimizerState> state({{-12, 0, 1999, 7}});  // a loss scale of 16
      TableStep by;
      by.state = reinterpret_cast<float*>(state.get());
      gpu().run(unscale(gpu().limits(), format, by, t.table));
      CHECK(state.read().front().overflow == (overflow ? 1 : 0));
      for (float& x : gradient) x /= 16;
      CHECK(one.read() == rounded(format, gradient));
      kernels::OptimizerState expected = state.read().front();
      kernels::end_step(expected, true);
      gpu().run(end_step(by.state, true));
      const kernels::OptimizerState got = state.read().front();
      CHECK(got.exponent == expected.exponent);
      CHECK(got.overflow == expected.overflow);
      CHECK(got.good == expected.good);
      CHECK(got.taken == expected.taken);
    }
  }
}

}  // namespace headway::test
