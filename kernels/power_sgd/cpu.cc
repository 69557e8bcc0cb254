// SPDX-License-Identifier: MIT
#include "kernels/power_sgd/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/tensor_list.h"

namespace headway::kernels {
namespace {

/// An item for for_each_piece, which counts elements, so that threads share elements, not matrices.
struct Countable {
  const PowerMatrix* matrix;
  std::int64_t count;
};

/// Calls body(matrix, begin, end) so that each of a matrix's `lines` (rows or columns) is covered once.
template <class Body>
void for_each_line(const PowerLayout& l, std::int64_t PowerMatrix::*lines, const Body& body) {
  std::vector<Countable> matrices;
  matrices.reserve(l.matrices.size());
  for (const PowerMatrix& m : l.matrices) matrices.push_back({&m, m.rows * m.columns});
  for_each_piece(std::span<const Countable>(matrices),
                 [&](const Countable& each, std::int64_t from, std::int64_t to) {
                   // A line belongs to the piece that contains its first element.
                   const PowerMatrix& m = *each.matrix;
                   const std::int64_t length = each.count / (m.*lines);
                   const std::int64_t begin = (from + length - 1) / length;
                   const std::int64_t end = (to + length - 1) / length;
                   if (begin < end) body(m, begin, end);
                 });
}

/// P = M·Q for several rows at once, because each sum is a chain of dependent additions.
template <int kRows>
void multiply_rows(const PowerLayout& l, const PowerMatrix& m, std::int64_t row) {
  const float* values = l.flat + m.offset + row * m.columns;
  for (int k = 0; k < l.rank; ++k) {
    const float* q = l.second + m.q + k * m.columns;
    std::array<float, kRows> sums{};
    for (std::int64_t c = 0; c < m.columns; ++c)
      for (int r = 0; r < kRows; ++r)
        sums[static_cast<std::size_t>(r)] += values[r * m.columns + c] * q[c];
    std::copy(sums.begin(), sums.end(), l.p + m.p + k * m.rows + row);
  }
}

float squares_of(const float* column, std::int64_t rows) {
  float sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) sum += column[i] * column[i];
  return sum;
}

/// Subtracts from column `k` its projections on the earlier columns.
void subtract_earlier(float* p, std::int64_t rows, int k) {
  float* column = p + k * rows;
  for (int before = 0; before < k; ++before) {
    const float* other = p + before * rows;
    float along = 0;
    for (std::int64_t i = 0; i < rows; ++i) along += column[i] * other[i];
    for (std::int64_t i = 0; i < rows; ++i) column[i] -= along * other[i];
  }
}

/// Gram-Schmidt orthogonalisation of the columns of P.
void orthogonalise(float* p, std::int64_t rows, int rank) {
  for (int k = 0; k < rank; ++k) {
    float* column = p + k * rows;
    const float before = squares_of(column, rows);
    subtract_earlier(p, rows, k);
    float squares = squares_of(column, rows);
    if (squares <= kPowerLost * before) {
      if (squares == 0) column[k % rows] = 1;
      subtract_earlier(p, rows, k);
      squares = squares_of(column, rows);
    }
    const float scale = 1 / (std::sqrt(squares) + 1e-8F);
    for (std::int64_t i = 0; i < rows; ++i) column[i] *= scale;
  }
}

Work product_work(const PowerLayout& l, std::int64_t bytes_per_value) {
  std::int64_t elements = 0;
  for (const PowerMatrix& m : l.matrices) elements += m.rows * m.columns;
  return {2 * elements * l.rank, bytes_per_value * l.count};
}

}  // namespace

void run(const PowerFirst& op) {
  const PowerLayout& l = op.layout;
  parallel_for(l.count, kFlatGrain, max_threads(), [&l](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) l.flat[i] += l.error[i];
  });
  for_each_line(l, &PowerMatrix::rows, [&l](const PowerMatrix& m, auto begin, auto end) {
    std::int64_t row = begin;
    for (; row + 4 <= end; row += 4) multiply_rows<4>(l, m, row);
    for (; row < end; ++row) multiply_rows<1>(l, m, row);
  });
}

void run(const PowerSecond& op) {
  const PowerLayout& l = op.layout;
  const auto matrices = static_cast<std::int64_t>(l.matrices.size());
  parallel_for(matrices, 1, max_threads(), [&l](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const PowerMatrix& m = l.matrices[static_cast<std::size_t>(i)];
      orthogonalise(l.p + m.p, m.rows, l.rank);
    }
  });
  for_each_line(l, &PowerMatrix::columns, [&l](const PowerMatrix& m, auto begin, auto end) {
    for (int k = 0; k < l.rank; ++k) {
      float* q = l.second + m.q + k * m.columns;
      std::fill(q + begin, q + end, 0.0F);
    }
    for (std::int64_t row = 0; row < m.rows; ++row) {
      const float* values = l.flat + m.offset + row * m.columns;
      for (int k = 0; k < l.rank; ++k) {
        float* q = l.second + m.q + k * m.columns;
        const float weight = l.p[m.p + k * m.rows + row];
        for (std::int64_t c = begin; c < end; ++c) q[c] += weight * values[c];
      }
    }
  });
  for (const PowerRest& rest : l.rest)
    std::copy_n(l.flat + rest.offset, rest.count, l.second + rest.at);
}

void run(const PowerRestore& op) {
  const PowerLayout& l = op.layout;
  for (std::int64_t i = 0; i < l.second_count; ++i) l.second[i] *= op.factor;
  for_each_line(l, &PowerMatrix::rows, [&l](const PowerMatrix& m, auto begin, auto end) {
    const float* p = l.p + m.p;
    const float* q = l.second + m.q;
    for (std::int64_t row = begin; row < end; ++row) {
      float* flat = l.flat + m.offset + row * m.columns;
      float* error = l.error + m.offset + row * m.columns;
      for (std::int64_t c = 0; c < m.columns; ++c) {
        float value = 0;
        for (int k = 0; k < l.rank; ++k) value += p[k * m.rows + row] * q[k * m.columns + c];
        error[c] = flat[c] - value;
        flat[c] = value;
      }
    }
  });
  for (const PowerRest& rest : l.rest)
    std::copy_n(l.second + rest.at, rest.count, l.flat + rest.offset);
}

// Adding the error reads two arrays and writes one. The second product reads, and copies the rest.
// Restoring reads and writes both.
Work work_of(const PowerFirst& op) {
  return product_work(op.layout, 12);
}
Work work_of(const PowerSecond& op) {
  return product_work(op.layout, 8);
}
Work work_of(const PowerRestore& op) {
  return product_work(op.layout, 12);
}

}  // namespace headway::kernels
