// SPDX-License-Identifier: MIT
// Code shared by the passes of attention on tensor cores: tiles in shared memory, products of a
// warp, masks, statistics. A warp's part of a product of rows and columns lies in fragments [16
// rows each][8 columns each][4], described in kernels/cuda/mma.cuh.
#pragma once

#include "kernels/attention/kernel.cuh"
#include "kernels/attention/launch_tiles.h"
#include "kernels/cuda/mma.cuh"

namespace headway::kernels::cuda {

inline constexpr float kLog2OfE = 1.44269504F;

/// The rows of one head in an array: the address of row 0, and the number of elements from row to
/// row.
template <class T>
struct HeadRows {
  T* first;
  std::int64_t stride;
  __device__ __forceinline__ T* at(std::int64_t row) const { return first + row * stride; }
};
/// Part 0, 1 or 2 of qkv or its gradient: queries, keys, values.
template <class T, class Array>
__device__ __forceinline__ HeadRows<T> part_rows(const AttentionParameters& a,
                                                 const AttentionGroup& group, Array* qkv,
                                                 int part) {
  const std::int64_t columns = a.heads * a.depth;
  return {static_cast<T*>(qkv) + part * columns + group.head * a.depth, 3 * columns};
}
template <class T, class Array>
__device__ __forceinline__ HeadRows<T> joined_rows(const AttentionParameters& a,
                                                   const AttentionGroup& group, Array* y) {
  return {static_cast<T*>(y) + group.head * a.depth, a.heads * a.depth};
}

/// Begins to copy the rows of positions `first` and following into a tile; positions beyond the
/// window are 0.
template <class T, int kDepth, int kRows>
__device__ __forceinline__ void copy_rows(const AttentionGroup& group,
                                          const HeadRows<const T>& from, int first, T* tile) {
  constexpr int kPieces = kDepth / 8;
  constexpr int kStep = kAttentionThreads / kPieces;  // rows that all threads copy together
  const int row = threadIdx.x / kPieces;
  const int piece = threadIdx.x % kPieces;
  if (kRows < kStep && row >= kRows) return;
  T* const to = tile + place_in_tile<kDepth>(row, piece);
#pragma unroll
  for (int r = 0; r < kRows; r += kStep) {
    const int w = first + row + r;
    const bool there = w < group.window;
    copy_async16(to + r * kDepth, from.at(group.row(there ? w : 0)) + 8 * piece, there);
  }
}

/// The address at which a lane reads a tile by ldmatrix. The other addresses differ from it by an
/// exclusive or (pieces) and a constant (rows), so they take no registers. Tiles lie at multiples
/// of their rows' bytes.
template <int kDepth>
struct TileReader {
  SharedAddress first;

  /// `row` is the lane's, `piece` 0 or 1.
  template <class T>
  __device__ __forceinline__ TileReader(const T* tile, int row, int piece)
      : first(shared_address(tile + place_in_tile<kDepth>(row, piece))) {}
  /// The address `rows` steps of 16 rows and `pieces` steps of two pieces further.
  __device__ __forceinline__ SharedAddress at(int rows, int pieces) const {
    return (first ^ (32 * pieces)) + rows * 32 * kDepth;
  }
};

/// products[r][c] = rows 16r... of one tile times rows 8c... of another, both of kDepth elements. `row`: the warp's first.
template <class T, int kDepth, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void multiply_tiles(const T* rows, int row, const T* columns,
                                               float (&products)[kRowTiles][kColumnTiles][4]) {
  const int lane = threadIdx.x % kLanes;
  const TileReader<kDepth> of_rows(rows, row + lane % 16, lane / 16);
  // Columns of the product are rows of the tile, so that they are fragments of b without a
  // transpose.
  const TileReader<kDepth> of_columns(columns, lane / 16 * 8 + lane % 8, lane / 8 % 2);
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int c = 0; c < kColumnTiles; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) products[r][c][i] = 0;
#pragma unroll
  for (int k = 0; k < kDepth / 16; ++k) {
    std::uint32_t left[kRowTiles][4];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) load_matrices(left[r], of_rows.at(r, k));
#pragma unroll
    for (int c = 0; c < kColumnTiles; c += 2) {
      std::uint32_t right[4];
      load_matrices(right, of_columns.at(c / 2, k));
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        multiply_add<T>(products[r][c], left[r], right[0], right[1]);
        multiply_add<T>(products[r][c + 1], left[r], right[2], right[3]);
      }
    }
  }
}

/// sums[r][d] += weights (rows and columns, rounded to T) times the columns' rows of the tile. The
/// registers of a product are, as they are, a fragment of the left side of the next product.
template <class T, int kDepth, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void add_weighted(const float (&weights)[kRowTiles][kColumnTiles][4],
                                             const T* columns,
                                             float (&sums)[kRowTiles][kDepth / 8][4]) {
  const int lane = threadIdx.x % kLanes;
  const TileReader<kDepth> of_columns(columns, lane % 16, lane / 16);
#pragma unroll
  for (int k = 0; k < kColumnTiles; k += 2) {
    std::uint32_t left[kRowTiles][4];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        left[r][i] =
            packed_pair<T>(weights[r][k + i / 2][i % 2 * 2], weights[r][k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int d = 0; d < kDepth / 8; d += 2) {
      std::uint32_t right[4];
      load_transposed(right, of_columns.at(k / 2, d / 2));
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        multiply_add<T>(sums[r][d], left[r], right[0], right[1]);
        multiply_add<T>(sums[r][d + 1], left[r], right[2], right[3]);
      }
    }
  }
}

/// The first and the last column that a row meets; both are non-decreasing from row to row.
struct Range {
  int first, last;
};
/// For a query, the keys that it sees; for a key, the queries that see it. Results of rows beyond
/// the window are never written.
template <bool kRowsAreKeys>
__device__ __forceinline__ Range met_by(const AttentionGroup& group, int row) {
  if constexpr (kRowsAreKeys) return {row, (row < group.split ? group.split : group.window) - 1};
  return {group.first_seen(row), row};
}

/// The columns that any row of a block meets: from the beginning of a tile up to, but excluding, an
/// end.
template <bool kRowsAreKeys, int kColumns>
__device__ __forceinline__ Range columns_of_block(const AttentionGroup& group, int row, int rows) {
  const int end = met_by<kRowsAreKeys>(group, row + rows - 1).last + 1;
  return {met_by<kRowsAreKeys>(group, row).first / kColumns * kColumns,
          end < group.window ? end : group.window};
}

/// Whether any pair in a part of the product meets, and whether all pairs do.
struct Meeting {
  bool any, all;
};
template <bool kRowsAreKeys>
__device__ __forceinline__ Meeting meeting(const AttentionGroup& group, int row, int rows,
                                           int column, int columns) {
  const Range first = met_by<kRowsAreKeys>(group, row);
  const Range last = met_by<kRowsAreKeys>(group, row + rows - 1);
  const int end = column + columns - 1;
  return {row < group.window && end >= first.first && column <= last.last,
          end <= first.last && column >= last.first};
}

/// Sets the scores of pairs that do not meet to minus infinity.
template <bool kRowsAreKeys, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void hide_others(const AttentionGroup& group, int row, int column,
                                            float (&scores)[kRowTiles][kColumnTiles][4]) {
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Range met = met_by<kRowsAreKeys>(group, row + 16 * r + i / 2 * 8 + lane / 4);
      const int at = column + lane % 4 * 2 + i % 2;
#pragma unroll
      for (int c = 0; c < kColumnTiles; ++c)
        if (at + 8 * c < met.first || at + 8 * c > met.last) scores[r][c][i] = -INFINITY;
    }
}

/// Sum (or largest) over the four lanes that share one row of a fragment.
__device__ __forceinline__ float row_sum(float x) {
  x += __shfl_xor_sync(kFullWarp, x, 1);
  return x + __shfl_xor_sync(kFullWarp, x, 2);
}
__device__ __forceinline__ float row_largest(float x) {
  x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, 1));
  return fmaxf(x, __shfl_xor_sync(kFullWarp, x, 2));
}

/// Writes the warp's rows `scale[r][0 or 1]`·sums to positions `first` and following of an array.
/// They pass through the warp's own rows of a tile that is no longer read, so that each lane writes
/// 16 bytes.
template <class T, int kDepth, int kRowTiles>
__device__ __forceinline__ void write_rows(const AttentionGroup& group,
                                           const float (&sums)[kRowTiles][kDepth / 8][4],
                                           const float (&scale)[kRowTiles][2], T* tile, int row,
                                           const HeadRows<T>& to, int first) {
  constexpr int kPieces = kDepth / 8;
  const int lane = threadIdx.x % kLanes;
  __syncwarp();  // all lanes have read the tile
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int d = 0; d < kPieces; ++d)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float by = scale[r][half];
        const int at = place_in_tile<kDepth>(row + 16 * r + 8 * half + lane / 4, d) + lane % 4 * 2;
        *reinterpret_cast<Pack<T, 2>*>(tile + at) = {from_float<T>(by * sums[r][d][2 * half]),
                                                     from_float<T>(by * sums[r][d][2 * half + 1])};
      }
  __syncwarp();
#pragma unroll
  for (int i = lane; i < 16 * kRowTiles * kPieces; i += kLanes) {
    const int at = row + i / kPieces;
    const int piece = i % kPieces;
    if (first + at < group.window)
      *reinterpret_cast<Pack<T, 8>*>(to.at(group.row(first + at)) + 8 * piece) =
          *reinterpret_cast<const Pack<T, 8>*>(tile + place_in_tile<kDepth>(at, piece));
  }
}

/// The rows of a block. Blocks with the most work come first, so that the last ones are short.
struct BlockOfRows {
  std::int64_t group;
  int first;  // row
};
template <int kRows>
__device__ __forceinline__ BlockOfRows block_of_rows(const AttentionParameters& a,
                                                     bool last_first) {
  const unsigned blocks = static_cast<unsigned>((a.window + kRows - 1) / kRows);
  const unsigned groups = gridDim.x / blocks;
  const unsigned block = blockIdx.x / groups;
  return {blockIdx.x % groups, static_cast<int>(last_first ? blocks - 1 - block : block) * kRows};
}

}  // namespace headway::kernels::cuda
