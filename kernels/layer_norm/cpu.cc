// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/op.h"

#include <cmath>
#include <vector>

#include "kernels/column_sum/op.h"
#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {

void layer_norm_forward(LayerNormShape shape, float epsilon, const LayerNormForward& a) {
  const std::int64_t n = shape.columns;
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / n);
  parallel_for(shape.rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* x = a.x + row * n;
      if (a.added) {
        loops().add(n, x, a.added + row * n, a.sum + row * n);
        x = a.sum + row * n;
      }
      const float mean = loops().row_sum(n, x) / static_cast<float>(n);
      const float variance = loops().row_squares(n, x, mean) / static_cast<float>(n);
      const float rstd = 1 / std::sqrt(variance + epsilon);
      loops().layer_norm_row(n, x, mean, rstd, a.gamma, a.beta, a.y + row * n);
      a.mean[row] = mean;
      a.rstd[row] = rstd;
    }
  });
}

void layer_norm_backward(LayerNormShape shape, const LayerNormBackward& a) {
  const std::int64_t n = shape.columns;
  reduce_columns<2>(shape.rows, n, {a.dgamma, a.dbeta}, [&](std::int64_t row, auto partial) {
    const float* x = a.x + row * n;
    const float* dy = a.dy + row * n;
    float sums[2];
    loops().layer_norm_sums(n, x, dy, a.mean[row], a.rstd[row], a.gamma, partial[0], partial[1],
                            sums);
    loops().layer_norm_backward_row(n, x, dy, a.dsum ? a.dsum + row * n : nullptr, a.mean[row],
                                    a.rstd[row], a.gamma, sums[0] / static_cast<float>(n),
                                    sums[1] / static_cast<float>(n), a.dx + row * n);
  });
}

namespace reference {

void layer_norm_forward(LayerNormShape shape, float epsilon, const LayerNormForward& a) {
  const std::int64_t n = shape.columns;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    std::vector<double> x(static_cast<std::size_t>(n));
    double mean = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = row * n + i;
      x[static_cast<std::size_t>(i)] = double{a.x[at]} + (a.added ? a.added[at] : 0);
      if (a.added) a.sum[at] = static_cast<float>(x[static_cast<std::size_t>(i)]);
      mean += x[static_cast<std::size_t>(i)] / static_cast<double>(n);
    }
    double variance = 0;
    for (double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(n);
    const double rstd = 1 / std::sqrt(variance + epsilon);
    a.mean[row] = static_cast<float>(mean);
    a.rstd[row] = static_cast<float>(rstd);
    for (std::int64_t i = 0; i < n; ++i)
      a.y[row * n + i] = static_cast<float>(
          (x[static_cast<std::size_t>(i)] - mean) * rstd * a.gamma[i] + a.beta[i]);
  }
}

void layer_norm_backward(LayerNormShape shape, const LayerNormBackward& a) {
  const std::int64_t n = shape.columns;
  std::vector<double> dgamma(static_cast<std::size_t>(n));
  std::vector<double> dbeta(dgamma);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    double first = 0;
    double second = 0;
    auto normal = [&](std::int64_t i) {
      return (double{a.x[row * n + i]} - a.mean[row]) * a.rstd[row];
    };
    for (std::int64_t i = 0; i < n; ++i) {
      const double dy = a.dy[row * n + i];
      first += dy * a.gamma[i] / static_cast<double>(n);
      second += dy * a.gamma[i] * normal(i) / static_cast<double>(n);
      dgamma[static_cast<std::size_t>(i)] += dy * normal(i);
      dbeta[static_cast<std::size_t>(i)] += dy;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double dz = double{a.dy[row * n + i]} * a.gamma[i];
      a.dx[row * n + i] = static_cast<float>((a.dsum ? a.dsum[row * n + i] : 0) +
                                             a.rstd[row] * (dz - first - normal(i) * second));
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    a.dgamma[i] = static_cast<float>(dgamma[static_cast<std::size_t>(i)]);
    a.dbeta[i] = static_cast<float>(dbeta[static_cast<std::size_t>(i)]);
  }
}

}  // namespace reference
}  // namespace headway::kernels
