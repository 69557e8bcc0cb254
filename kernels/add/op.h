// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// c = a + b over `count` floats; c may not overlap a or b. One pass. Its gradient is dy for both
/// operands, so it needs no backward kernel.
void add(std::int64_t count, const float* a, const float* b, float* c);
constexpr Work add_work(std::int64_t count) {
  return {count, 12 * count};
}

}  // namespace headway::kernels
