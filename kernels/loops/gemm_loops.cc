// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"
#include "kernels/loops/vector_math.h"

// Compiled once per instruction set (see lanes.h): products of matrices that fit the caches.
namespace headway::kernels::HEADWAY_ISA {
namespace {

/// A block of kRows x kVectors of C stays in registers over all of k: 6 x 2 accumulators, two
/// vectors of B and one element of A are 15 of AVX2's 16 registers.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void block(const SmallGemm& g, std::int64_t row,
                                         std::int64_t column) {
  Vector sums[kRows][kVectors] = {};
  const float* a = g.a + row * g.a_row;
  const float* b = g.b + column;
  for (std::int64_t k = 0; k < g.k; ++k, a += g.a_column, b += g.b_row) {
    Vector right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = load<Vector>(b + v * kVectorFloats);
    for (int r = 0; r < kRows; ++r) {
      const Vector left = Vector{} + a[r * g.a_row];
      for (int v = 0; v < kVectors; ++v) sums[r][v] += left * right[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* c = g.c + (row + r) * g.c_row + column;
    for (int v = 0; v < kVectors; ++v, c += kVectorFloats)
      store(c, g.accumulate ? load<Vector>(c) + sums[r][v] : sums[r][v]);
  }
}

/// The last columns, fewer than a vector, one element at a time.
void rest(const SmallGemm& g, std::int64_t first_column) {
  for (std::int64_t row = 0; row < g.m; ++row) {
    for (std::int64_t column = first_column; column < g.n; ++column) {
      float sum = g.accumulate ? g.c[row * g.c_row + column] : 0;
      for (std::int64_t k = 0; k < g.k; ++k)
        sum += g.a[row * g.a_row + k * g.a_column] * g.b[k * g.b_row + column];
      g.c[row * g.c_row + column] = sum;
    }
  }
}

template <int kVectors>
void columns(const SmallGemm& g, std::int64_t column) {
  std::int64_t row = 0;
  for (; row + 6 <= g.m; row += 6) block<6, kVectors>(g, row, column);
  switch (g.m - row) {
    case 5:
      return block<5, kVectors>(g, row, column);
    case 4:
      return block<4, kVectors>(g, row, column);
    case 3:
      return block<3, kVectors>(g, row, column);
    case 2:
      return block<2, kVectors>(g, row, column);
    case 1:
      return block<1, kVectors>(g, row, column);
    default:
      return;
  }
}

}  // namespace

void small_gemm(const SmallGemm& g) {
  std::int64_t column = 0;
  for (; column + 2 * kVectorFloats <= g.n; column += 2 * kVectorFloats) columns<2>(g, column);
  for (; column + kVectorFloats <= g.n; column += kVectorFloats) columns<1>(g, column);
  if (column < g.n) rest(g, column);
}

/// to[column][row] = scale · from[row][column], in squares that fit in the cache.
void transpose(std::int64_t rows, std::int64_t columns, const float* from, std::int64_t from_row,
               float scale, float* to, std::int64_t to_row) {
  constexpr std::int64_t kSquare = 8;
  for (std::int64_t r = 0; r < rows; r += kSquare) {
    const std::int64_t last = r + kSquare < rows ? r + kSquare : rows;
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = r; i < last; ++i) to[c * to_row + i] = scale * from[i * from_row + c];
  }
}

}  // namespace headway::kernels::HEADWAY_ISA
