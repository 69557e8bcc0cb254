// SPDX-License-Identifier: MIT
#include "kernels/lstm/launch.h"

#include <doctest/doctest.h>

#include <cmath>

#include "common/error.h"
#include "kernels/cuda/functors.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::LstmShape;
using Values = std::vector<float>;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}
double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

/// A layer in double, forward and backward, by the definition (kernels/lstm/op.h).
struct Reference {
  std::vector<double> gates, cell, h, before, dgates;

  Reference(const LstmShape& s, std::int64_t used, const Values& input, const Values& weights,
            const Values& dh)
      : gates(at(s.steps * s.rows * s.gate_columns())),
        cell(at(s.steps * s.rows * s.hidden)),
        h(cell),
        before(cell),
        dgates(gates) {
    const std::int64_t n = s.hidden;
    for (std::int64_t i = 0; i < used * s.rows; ++i) {
      for (std::int64_t u = 0; u < n; ++u) {
        double z[4];
        for (std::int64_t g = 0; g < 4; ++g) {
          z[g] = input[at((i * 4 + g) * n + u)];
          for (std::int64_t k = 0; i >= s.rows && k < n; ++k)
            z[g] += double{weights[at((g * n + u) * n + k)]} * h[at((i - s.rows) * n + k)];
        }
        const double f[4] = {sigmoid_of(z[0]), sigmoid_of(z[1]), std::tanh(z[2]), sigmoid_of(z[3])};
        for (std::int64_t g = 0; g < 4; ++g) gates[at((i * 4 + g) * n + u)] = f[g];
        const double c = i >= s.rows ? cell[at((i - s.rows) * n + u)] : 0;
        cell[at(i * n + u)] = f[1] * c + f[0] * f[2];
        h[at(i * n + u)] = f[3] * std::tanh(cell[at(i * n + u)]);
        before[at(i * n + u)] = i >= s.rows ? h[at((i - s.rows) * n + u)] : 0;
      }
    }
    std::vector<double> dcell(at(s.rows * n));
    for (std::int64_t i = used * s.rows; i-- > 0;) {
      for (std::int64_t u = 0; u < n; ++u) {
        double d = dh[at(i * n + u)];
        for (std::int64_t g = 0; i + s.rows < used * s.rows && g < 4 * n; ++g)
          d += dgates[at((i + s.rows) * 4 * n + g)] * weights[at(g * n + u)];
        auto gate = [&](std::int64_t g) { return gates[at((i * 4 + g) * n + u)]; };
        const double t = std::tanh(cell[at(i * n + u)]);
        const double c = i >= s.rows ? cell[at((i - s.rows) * n + u)] : 0;
        double& carried = dcell[at(i % s.rows * n + u)];
        const double all = carried + d * gate(3) * (1 - t * t);
        carried = all * gate(1);
        dgates[at((i * 4 + 0) * n + u)] = all * gate(2) * gate(0) * (1 - gate(0));
        dgates[at((i * 4 + 1) * n + u)] = all * c * gate(1) * (1 - gate(1));
        dgates[at((i * 4 + 2) * n + u)] = all * gate(0) * (1 - gate(2) * gate(2));
        dgates[at((i * 4 + 3) * n + u)] = d * t * gate(3) * (1 - gate(3));
      }
    }
  }
};
Values floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// The arrays of a layer on the device.
struct Layer {
  NumberFormat format;
  LstmShape s;
  Values input, weights, dh;
  Array dev_input, dev_dh, gates, cell, h, before, dgates;
  Plain<std::int32_t> used{std::vector<std::int32_t>(1, -5)};
  LstmArrays arrays;

  Layer(NumberFormat f, const LstmShape& shape, std::size_t offset)
      : format(f),
        s(shape),
        input(rounded(f, random_floats(s.steps * s.rows * s.gate_columns(), 1))),
        weights(rounded(f, random_floats(s.gate_columns() * s.hidden, 2, 0, 0.2F))),
        dh(rounded(f, random_floats(s.steps * s.rows * s.hidden, 3))),
        dev_input(f, input, offset),
        dev_dh(f, dh, offset),
        gates(f, s.steps * s.rows * s.gate_columns(), offset),
        cell(f, s.steps * s.rows * s.hidden, offset),
        h(f, s.steps * s.rows * s.hidden, offset),
        before(f, s.steps * s.rows * s.hidden, offset),
        dgates(f, s.steps * s.rows * s.gate_columns(), offset) {
    arrays.used = used.get(), arrays.input = dev_input.get(), arrays.gates = gates.get();
    arrays.cell = cell.get(), arrays.h = h.get(), arrays.before = before.get();
    arrays.dh = dev_dh.get(), arrays.dgates = dgates.get();
  }
  /// Tokens of which the sequences use `steps` at most.
  void use(std::int64_t steps) {
    std::vector<std::int32_t> tokens(at(s.steps * s.rows), -1);
    for (std::int64_t i = 0; i < steps * s.rows; ++i)
      tokens[at(i)] = i % s.rows == 0 || i / s.rows < steps / 2 ? 7 : -1;
    const Plain<std::int32_t> dev_tokens(tokens);
    gpu().run(lstm_used(s, dev_tokens.get(), used.get()));
    CHECK(used.read()[0] == steps);
    CHECK(used.read()[0] == kernels::used_steps(s, tokens.data()));
  }
  void check(std::int64_t steps, bool backward) const {
    const Reference expected(s, steps, input, weights, dh);
    // Errors of rounded gates and cells travel through the steps.
    const double allowed = 4 * tolerance(format);
    if (backward) {
      CHECK(largest_difference(dgates.read(), floats(expected.dgates)) < allowed);
      return;
    }
    CHECK(largest_difference(h.read(), floats(expected.h)) < allowed);
    CHECK(largest_difference(gates.read(), floats(expected.gates)) < allowed);
    CHECK(largest_difference(cell.read(), floats(expected.cell)) < allowed);
    CHECK(largest_difference(before.read(), floats(expected.before)) < allowed);
  }
};

/// rows of `left` by weights, as a library's product: FP32.
Values product(const Values& left, std::int64_t first, std::int64_t rows, std::int64_t inner,
               std::int64_t columns, const auto& weight) {
  Values result(at(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum += double{left[at((first + r) * inner + k)]} * weight(k, c);
      result[at(r * columns + c)] = static_cast<float>(sum);
    }
  return result;
}

constexpr LstmShape kShapes[] = {{1, 1, 1}, {5, 3, 7}, {4, 9, 33}, {3, 2, 600}};

}  // namespace

TEST_CASE("one unit of an LSTM agrees with double precision, and its gradient with differences") {
  const Values x = random_floats(500, 4);
  for (std::size_t i = 0; i + 5 < x.size(); i += 5) {
    const LstmUnit unit = lstm_unit(x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4]);
    const auto value = [&](int changed, double by) {
      double z[5];
      for (int k = 0; k < 5; ++k) z[k] = double{x[i + static_cast<std::size_t>(k)]};
      z[changed] += by;
      const double c = sigmoid_of(z[1]) * z[4] + sigmoid_of(z[0]) * std::tanh(z[2]);
      return std::pair{c, sigmoid_of(z[3]) * std::tanh(c)};
    };
    CHECK(unit.cell == doctest::Approx(value(0, 0).first).epsilon(1e-5));
    CHECK(unit.h == doctest::Approx(value(0, 0).second).epsilon(1e-5));
    // The gradient of 0.3·c + 0.7·h.
    float dcell = 0.3F;
    const LstmGradient d = lstm_unit_gradient(unit, x[i + 4], 0.7F, dcell);
    const float got[] = {d.i, d.f, d.g, d.o, dcell};
    constexpr double kStep = 1e-5;
    for (int k = 0; k < 5; ++k) {
      const auto up = value(k, kStep), down = value(k, -kStep);
      const double slope =
          (0.3 * (up.first - down.first) + 0.7 * (up.second - down.second)) / (2 * kStep);
      CHECK(std::abs(got[k] - slope) < 1e-6);
    }
  }
}

TEST_CASE("an LSTM layer in one kernel agrees with double precision, forward and backward") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const LstmShape& shape : kShapes) {
      for (std::int64_t steps : {shape.steps, shape.steps - 1}) {
        CAPTURE(shape.hidden);
        CAPTURE(steps);
        Layer layer(format, shape, 1);
        layer.use(steps);
        const std::int64_t n = shape.hidden;
        Values packed(layer.weights);
        for (std::int64_t g = 0; g < 4 * n; ++g)
          for (std::int64_t k = 0; k < n; ++k)
            packed[at(k * 4 * n + g)] = layer.weights[at(g * n + k)];
        const Array dev_packed(format, packed), dev_weights(format, layer.weights);
        layer.arrays.weights = dev_packed.get();
        gpu().run(lstm_forward(gpu().limits(), format, shape, layer.arrays));
        layer.check(steps, false);
        layer.arrays.weights = dev_weights.get();
        gpu().run(lstm_backward(gpu().limits(), format, shape, layer.arrays));
        layer.check(steps, true);
      }
    }
  }
}

TEST_CASE("an LSTM layer step by step agrees with double precision, forward and backward") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const LstmShape& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
      for (std::int64_t steps : {shape.steps, shape.steps - 1}) {
        CAPTURE(shape.hidden);
        CAPTURE(steps);
        Layer layer(format, shape, 0);
        layer.use(steps);
        const std::int64_t n = shape.hidden;
        for (std::int64_t step = 0; step < shape.steps; ++step) {
          Values z(at(shape.rows * 4 * n));
          if (step > 0)
            z = product(layer.h.read(), (step - 1) * shape.rows, shape.rows, n, 4 * n,
                        [&](auto k, auto c) { return layer.weights[at(c * n + k)]; });
          const Array dev_product(kFull, z);
          layer.arrays.product = step > 0 ? dev_product.floats() : nullptr;
          gpu().run(lstm_cell_forward(gpu().limits(), format, shape, step, layer.arrays));
        }
        layer.check(steps, false);
        const Array dcell(kFull, shape.rows * n);  // NaN: the last step that is used reads nothing
        layer.arrays.dcell = dcell.floats();
        for (std::int64_t step = shape.steps; step-- > 0;) {
          Values later(at(shape.rows * n), std::nanf(""));
          if (step + 1 < steps)
            later = product(layer.dgates.read(), (step + 1) * shape.rows, shape.rows, 4 * n, n,
                            [&](auto k, auto c) { return layer.weights[at(k * n + c)]; });
          const Array dh_later(kFull, later);
          layer.arrays.dh_later = dh_later.floats();
          gpu().run(lstm_cell_backward(gpu().limits(), format, shape, step, layer.arrays));
        }
        layer.check(steps, true);
      }
    }
  }
}

TEST_CASE("an LSTM layer that is too wide for one kernel is refused") {
  LstmArrays a;
  auto* const any = reinterpret_cast<void*>(256);
  a.used = static_cast<std::int32_t*>(any), a.input = a.weights = any;
  a.gates = a.cell = a.h = a.before = any;
  CHECK_NOTHROW(lstm_forward(gpu().limits(), kFull, {2, 2, 2048}, a));
  CHECK_THROWS_AS(lstm_forward(gpu().limits(), kFull, {2, 2, 2049}, a), Error);
  CHECK_THROWS_AS(lstm_cell_forward(gpu().limits(), kFull, {2, 2, 8}, 1, a), Error);  // no product
}

}  // namespace headway::test
