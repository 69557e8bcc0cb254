// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/work.h"

namespace headway::kernels {

/// sums[c] = sum over rows of x[row][c]: the gradient of a bias. Blocks of rows are summed in float
/// and joined in double.
void column_sum(std::int64_t rows, std::int64_t columns, const float* x, float* sums);
constexpr Work column_sum_work(std::int64_t rows, std::int64_t columns) {
  return {rows * columns, 4 * (rows + 1) * columns};
}

/// Calls body(row, partial) for every row in parallel, where partial[i] is an array of `columns`
/// floats that body adds to. Then results[i] is the sum of all partial arrays. Partial sums are in
/// float over at most kRowsPerPart rows and joined in double.
template <std::size_t kCount, class Body>
void reduce_columns(std::int64_t rows, std::int64_t columns, std::array<float*, kCount> results,
                    const Body& body) {
  constexpr std::int64_t kRowsPerPart = 256;
  const auto width = static_cast<std::size_t>(columns);
  const auto pieces =
      static_cast<int>(std::clamp<std::int64_t>(rows * columns / kFlatGrain, 1, max_threads()));
  std::vector<double> sums(static_cast<std::size_t>(pieces) * kCount * width);
  parallel_for(pieces, 1, pieces, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> part(kCount * width);
    std::array<float*, kCount> partial;
    for (std::size_t i = 0; i < kCount; ++i) partial[i] = part.data() + i * width;
    for (std::int64_t piece = first; piece < last; ++piece) {
      double* into = sums.data() + static_cast<std::size_t>(piece) * kCount * width;
      const std::int64_t end = rows * (piece + 1) / pieces;
      for (std::int64_t row = rows * piece / pieces; row < end; row += kRowsPerPart) {
        std::fill(part.begin(), part.end(), 0.0F);
        for (std::int64_t r = row; r < std::min(end, row + kRowsPerPart); ++r) body(r, partial);
        for (std::size_t i = 0; i < part.size(); ++i) into[i] += part[i];
      }
    }
  });
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (int piece = 0; piece < pieces; ++piece)
        sum += sums[(static_cast<std::size_t>(piece) * kCount + i) * width + c];
      results[i][c] = static_cast<float>(sum);
    }
  }
}

}  // namespace headway::kernels
