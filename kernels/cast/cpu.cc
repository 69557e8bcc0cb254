// SPDX-License-Identifier: MIT
#include "kernels/cast/op.h"

#include <cmath>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {

void round_to(NumberFormat format, std::int64_t count, const float* from, float* to) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().round_to(format, end - begin, from + begin, to + begin);
  });
}

namespace reference {

float round_to(NumberFormat format, float value) {
  if (format == NumberFormat::kFloat32 || !std::isfinite(value) || value == 0) return value;
  const int mantissa = format == NumberFormat::kBfloat16 ? 7 : 10;
  int exponent = 0;
  std::frexp(static_cast<double>(value), &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int least = format == NumberFormat::kFloat16 ? -14 : -126;
  const int unit = std::max(exponent - 1, least) - mantissa;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(double{value}, -unit)), unit);
  if (format == NumberFormat::kFloat16 && std::abs(rounded) > 65504)
    return std::copysign(HUGE_VALF, value);
  return static_cast<float>(rounded);
}

}  // namespace reference
}  // namespace headway::kernels
