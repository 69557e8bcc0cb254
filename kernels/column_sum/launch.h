// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

// Kernels over a row-major array that keep values per column. A thread owns eight neighbouring
// columns and processes rows in turn, so that it loads a bias or a scale once, and a sum over rows
// needs no other thread until the end. Sums over rows have two stages, in an order that depends on
// the shape and the GPU only: the result is the same in every run.
namespace headway::kernels::cuda {

inline constexpr unsigned kColumnThreads = 256;
inline constexpr int kColumnPack = 8;

struct ColumnTiles {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int across =
      1;  ///< threads of a block side by side, a power of two up to 32; the others lie below
  bool packed = false;  ///< a thread's eight columns are loaded 16 bytes at a time
};

struct ColumnPlan {
  ColumnTiles tiles;
  Grid grid;  ///< x: tiles of columns; y: number of blocks that share the rows
  /// Floats of scratch memory for `sums` sums per column.
  std::int64_t scratch_floats(int sums) const {
    return std::int64_t{grid.y} * sums * tiles.columns;
  }
};

/// `packed`: the addresses allow packed access; it also needs a multiple of eight columns. Depends
/// on nothing else, so that memory can be planned before it is allocated.
ColumnPlan plan_columns(const Limits& limits, std::int64_t rows, std::int64_t columns,
                        bool packed = true);

/// Second stage: results[s][c] = sum over parts of scratch[part][s][c].
struct ColumnFinishParameters {
  const float* scratch;
  std::int64_t columns;
  int parts;
  int sums;
  float* results[2];
};
Launch finish_columns(const Limits& limits, std::int64_t columns, unsigned parts,
                      const float* scratch, float* first, float* second = nullptr);

struct ColumnSumParameters {
  ColumnTiles tiles;
  const void* x;
  float* scratch;
};
/// sums[c] = sum over rows of x[row][c] (kernels/column_sum/op.h). `scratch`: scratch_floats(1) of the plan.
Launches column_sum(const Limits& limits, NumberFormat format, std::int64_t rows,
                    std::int64_t columns, const void* x, float* sums, float* scratch);

}  // namespace headway::kernels::cuda
