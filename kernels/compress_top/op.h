// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Deep gradient compression (Lin et al., 2018). Each rank keeps momentum and accumulates it,
///   u = factor · u + gradient;   v = v + u
/// and sends only the `entries` largest magnitudes of v (NaN counts as the largest); u and v
/// restart from zero there. Of equal magnitudes the lower index is sent. A message has `entries`
/// pairs of index (u32) and value (FP32), in index order.
///
/// Both devices select by radix: magnitudes have the order of their bits, so three histograms, of
/// 11, 10 and 10 bits from the top, give the smallest magnitude that is sent.
struct CompressTop {
  std::int64_t count = 0;    ///< below 2^32
  std::int64_t entries = 0;  ///< 1 to count
  float factor = 0;
  const float* gradient = nullptr;
  float* momentum = nullptr;     ///< u, read and written, zero at first
  float* waiting = nullptr;      ///< v, likewise
  std::byte* message = nullptr;  ///< entries · kTopEntryBytes; a multiple of 4 in address
  std::byte* scratch = nullptr;  ///< on a GPU: compress_top_scratch_bytes(count), a multiple of 16
};
inline constexpr std::int64_t kTopEntryBytes = 8;
std::int64_t compress_top_scratch_bytes(std::int64_t count);

/// A level of the search: `bits` bits of a magnitude, from bit `shift` on.
struct TopLevel {
  int shift;
  int bits;
};
inline constexpr TopLevel kTopLevels[] = {{20, 11}, {10, 10}, {0, 10}};
/// Scratch memory through which a GPU's blocks share their counts.
struct TopScratch {
  static constexpr std::int64_t kPieces = 1024;   ///< largest number of pieces of v
  std::uint32_t bins[(1 << 11) + 2 * (1 << 10)];  ///< histograms of all levels
  std::uint32_t prefix[3];       ///< by level: upper bits of the smallest magnitude that is sent
  std::uint32_t left[3];         ///< by level: how many values with that prefix are sent
  std::uint32_t above[kPieces];  ///< by piece: values larger than the smallest magnitude sent, and
  std::uint32_t equal[kPieces];  ///< values equal to it
};

/// to = sum of the values in the messages of all ranks, in rank order; zero where no message has a
/// value. Messages lie one after another.
struct DecompressTop {
  std::int64_t count = 0;
  std::int64_t entries = 0;
  int ranks = 1;
  const std::byte* messages = nullptr;
  float* to = nullptr;
};

void run(const CompressTop& op);
void run(const DecompressTop& op);

constexpr Work work_of(const CompressTop& op) {
  return {4 * op.count, 28 * op.count};
}
constexpr Work work_of(const DecompressTop& op) {
  return {op.entries * op.ranks, 4 * op.count + 16 * op.entries * op.ranks};
}

}  // namespace headway::kernels
