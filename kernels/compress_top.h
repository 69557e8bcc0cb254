// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::kernels {

/// Deep gradient compression (Lin et al., 2018): momentum is kept per rank and summed up,
///   u = factor · u + gradient;   v = v + u
/// and only the `entries` largest magnitudes of v are sent; there u and v start anew. Of equal magnitudes the lower index is
/// sent. A message: `entries` pairs of index (u32) and value (FP32), by index.
struct CompressTop {
  std::int64_t count = 0;
  std::int64_t entries = 0;  ///< 1 to count
  float factor = 0;
  const float* gradient = nullptr;
  float* momentum = nullptr;     ///< u, read and written, zero at first
  float* waiting = nullptr;      ///< v, likewise
  std::byte* message = nullptr;  ///< entries · kTopEntryBytes; a multiple of 4 in address
  std::byte* scratch = nullptr;  ///< compress_top_scratch_bytes(count); a multiple of 16 in address
};
inline constexpr std::int64_t kTopEntryBytes = 8;
std::int64_t compress_top_scratch_bytes(std::int64_t count);

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

}  // namespace headway::kernels
