// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::kernels {

/// The cost of an ideal execution of one op: floating-point operations, and bytes of memory read
/// plus written when every operand is accessed as often as the algorithm needs, without any cache.
struct Work {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;

  friend constexpr Work operator+(Work a, Work b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
  constexpr bool operator==(const Work&) const = default;
};

}  // namespace headway::kernels
