// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/kernels/families.h"
#include "trace/trace.h"

/// Matrix products on tensor cores whose rows are not aligned for 16-byte accesses.
namespace headway::analyzer {

inline constexpr int kWholeAccess = 16;  ///< bytes that one thread reads at once

/// Bytes that the kernel of a product on tensor cores reads at once, from the alignment in its
/// name: 4 for "cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align2". 0 if the name has
/// none, and for other kernels.
int access_bytes(std::string_view name, const KernelTraits& traits);
/// Rate of a product with accesses of `bytes`, relative to 16-byte accesses: a third with 2 bytes,
/// as published for an odd vocabulary; values between are interpolated.
double share_of_aligned_rate(int bytes);

/// An extent of a product that is not a multiple of 16 bytes, and the next good one.
struct BadExtent {
  std::int64_t extent = 0;
  std::int64_t padded = 0;
};
/// The next multiple of 64 elements if that adds at most 1 %, else the next multiple of 16 bytes.
std::int64_t padded_extent(std::int64_t extent, int element_bytes);
/// Bytes of an element of the product's operands; 0 where the number type is not known.
int element_bytes(Precision precision);

/// The extents that prevent 16-byte accesses in the product of a device op, largest first, from the
/// op graph or the shapes of the op's range. Empty if neither has them.
std::vector<BadExtent> bad_extents(const trace::Trace& trace, const Attribution& attribution,
                                   trace::DeviceOpId op, int element_bytes);

}  // namespace headway::analyzer
