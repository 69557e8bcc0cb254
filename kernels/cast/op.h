// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/number_format.h"
#include "kernels/work.h"

namespace headway::kernels {

/// to[i] = from[i] rounded to `format`, still as a float (rounding: see number_format.h). `count`
/// floats; both may be the same array. kFloat32 copies. On a GPU, `cuda::cast` (launch.h) converts
/// to and from 16-bit values.
void round_to(NumberFormat format, std::int64_t count, const float* from, float* to);
/// One operation, one read and one write of 4 bytes per element.
constexpr Work round_to_work(std::int64_t count) {
  return {count, 8 * count};
}

namespace reference {
/// By arithmetic on the value, not on its bits.
float round_to(NumberFormat format, float value);
}  // namespace reference

}  // namespace headway::kernels
