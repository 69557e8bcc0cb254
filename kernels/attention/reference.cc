// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include "kernels/attention/op.h"

namespace headway::kernels::reference {
namespace {

/// Element d of part 0, 1 or 2 (query, key, value) of a token of one head.
double element(const AttentionShape& s, const float* qkv, std::int64_t row, int part,
               std::int64_t head, std::int64_t d) {
  return qkv[row * 3 * s.columns() + part * s.columns() + head * s.depth + d];
}

/// Decides by token numbers alone: same window after the roll, not later, and on the same side of
/// the wrap.
bool sees(const AttentionShape& s, std::int64_t n, std::int64_t i, std::int64_t j) {
  const std::int64_t token_i = (n * s.window + i + s.shift) % s.length;
  const std::int64_t token_j = (n * s.window + j + s.shift) % s.length;
  const bool wrapped_i = token_i < s.shift;
  const bool wrapped_j = token_j < s.shift;
  return j <= i && wrapped_i == wrapped_j;
}

}  // namespace

void attention_forward(const AttentionShape& s, const float* qkv, float* y) {
  std::vector<double> p(static_cast<std::size_t>(s.window));
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t n = 0; n < s.windows(); ++n)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.window; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < s.window; ++j) {
            double score = 0;
            for (std::int64_t d = 0; d < s.depth; ++d)
              score += element(s, qkv, s.row(b, n, i), 0, h, d) *
                       element(s, qkv, s.row(b, n, j), 1, h, d);
            double& probability = p[static_cast<std::size_t>(j)];
            probability =
                sees(s, n, i, j) ? std::exp(score / std::sqrt(static_cast<double>(s.depth))) : 0;
            sum += probability;
          }
          for (std::int64_t d = 0; d < s.depth; ++d) {
            double total = 0;
            for (std::int64_t j = 0; j < s.window; ++j)
              total +=
                  p[static_cast<std::size_t>(j)] / sum * element(s, qkv, s.row(b, n, j), 2, h, d);
            y[s.row(b, n, i) * s.columns() + h * s.depth + d] = static_cast<float>(total);
          }
        }
}

}  // namespace headway::kernels::reference
