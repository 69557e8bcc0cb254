// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/kernels/families.h"
#include "trace/trace.h"

/// Matrix products on tensor cores whose rows begin where no 16 bytes can be read at once.
namespace headway::analyzer {

inline constexpr int kWholeAccess = 16;  ///< bytes that one thread reads at once

/// Bytes that the kernel of a product on tensor cores reads at once, by the alignment that its name tells:
/// "cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align2" reads 4. 0 where the name does not tell, and for other kernels.
int access_bytes(std::string_view name, const KernelTraits& traits);
/// Of the rate of a product that reads 16 bytes at once, what one with narrower accesses reaches: a third with 2 bytes, as published
/// of an odd vocabulary; what lies between is interpolated.
double share_of_aligned_rate(int bytes);

/// An extent of a product that is no multiple of 16 bytes, and the next one that is good.
struct BadExtent {
  std::int64_t extent = 0;
  std::int64_t padded = 0;
};
/// The next multiple of 64 elements where that adds at most 1 %, else of 16 bytes.
std::int64_t padded_extent(std::int64_t extent, int element_bytes);
/// Bytes of an element of the product's operands; 0 where the number type is not known.
int element_bytes(Precision precision);

/// The extents that make the product of a device op narrow, largest first, as the op graph or the shapes of the op's range tell them;
/// empty where nothing tells.
std::vector<BadExtent> bad_extents(const trace::Trace& trace, const Attribution& attribution,
                                   trace::DeviceOpId op, int element_bytes);

}  // namespace headway::analyzer
