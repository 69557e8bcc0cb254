// SPDX-License-Identifier: MIT
// The tile sizes of attention on tensor cores; its kernels, its launcher and the tests must agree
// on them.
#pragma once

#include "kernels/cuda/functors.h"

namespace headway::kernels::cuda {

/// kForward: rows are queries. kQueries: gradient of the queries. kKeys: gradients of keys and
/// values; rows are keys.
enum class AttentionPass { kForward, kQueries, kKeys };

inline constexpr int kAttentionWarps = 4;
inline constexpr int kAttentionThreads = 32 * kAttentionWarps;

/// A block keeps `rows()` rows of one kind and processes those of the other kind in tiles of
/// `columns`. Where possible a warp has 32 rows, so that each value it reads from the tiles serves
/// two products. These are the largest sizes that the 255 registers of a thread hold without
/// spilling (ptxas 13.0); a sum of 32 rows and a depth of 128 takes 128 of them.
struct AttentionTiles {
  int warp_rows;
  int columns;
  HEADWAY_BOTH constexpr int rows() const { return kAttentionWarps * warp_rows; }
};
HEADWAY_BOTH constexpr AttentionTiles attention_tiles(AttentionPass pass, int depth) {
  switch (pass) {
    case AttentionPass::kForward:
      return {32, depth == 128 ? 32 : 64};
    case AttentionPass::kQueries:
      return {32, 32};
    case AttentionPass::kKeys:
      return depth == 128 ? AttentionTiles{16, 64} : AttentionTiles{32, 32};
  }
  return {};
}

/// Shared memory of a block: the tiles, and for kKeys two floats of each query of a tile.
HEADWAY_BOTH constexpr int attention_shared_bytes(AttentionPass pass, int depth) {
  const AttentionTiles by = attention_tiles(pass, depth);
  const int rows =
      pass == AttentionPass::kForward ? by.rows() + 2 * by.columns : 2 * (by.rows() + by.columns);
  return rows * depth * 2 + (pass == AttentionPass::kKeys ? by.columns * 8 : 0);
}

/// Offset of piece `piece` (16 bytes) of row `row` in a tile, in elements of 2 bytes. The pieces of
/// a row are permuted, so that the pieces with the same number in eight consecutive rows lie in all
/// 32 banks of shared memory and ldmatrix reads them at once.
template <int kDepth>
HEADWAY_BOTH constexpr int place_in_tile(int row, int piece) {
  constexpr int kPieces = kDepth / 8;                   // of a row
  constexpr int kRows = kPieces < 8 ? 8 / kPieces : 1;  // in all banks
  constexpr int kTurns = kPieces < 8 ? kPieces : 8;
  return (row * kPieces + (piece ^ (row / kRows % kTurns))) * 8;
}

}  // namespace headway::kernels::cuda
