// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Deep gradient compression (Lin et al., 2018): momentum is kept per rank and summed up,
///   u = factor · u + gradient;   v = v + u
/// and only the `entries` largest magnitudes of v are sent (NaN being the largest); there u and v start anew. Of equal
/// magnitudes the lower index is sent. A message: `entries` pairs of index (u32) and value (FP32), by index.
///
/// Both devices select by radix: magnitudes have the order of their bits, so three histograms, of 11, 10 and 10 bits from the
/// top, give the smallest magnitude that is sent.
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

/// Level of the search: the bits of a magnitude from `shift` on, `bits` of them.
struct TopLevel {
  int shift;
  int bits;
};
inline constexpr TopLevel kTopLevels[] = {{20, 11}, {10, 10}, {0, 10}};
/// What the scratch memory is for: a GPU's blocks have to tell each other what they counted.
struct TopScratch {
  static constexpr std::int64_t kPieces = 1024;   ///< most pieces of v that blocks take
  std::uint32_t bins[(1 << 11) + 2 * (1 << 10)];  ///< of all levels
  std::uint32_t prefix[3];       ///< found up to each level: of the smallest magnitude that is sent
  std::uint32_t left[3];         ///< how many of those with that prefix are sent
  std::uint32_t above[kPieces];  ///< of a piece: values beyond the smallest magnitude, and
  std::uint32_t equal[kPieces];  ///< as large as that
};

/// to = sum of what the messages of all ranks say, zero where none says anything, in the order of ranks. Messages lie
/// one after another.
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
