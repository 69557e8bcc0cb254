// SPDX-License-Identifier: MIT
#include "kernels/cast/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launch cast(const Limits& limits, NumberFormat from_format, NumberFormat to_format,
            std::int64_t count, const void* from, void* to) {
  require((from_format == NumberFormat::kFloat32) != (to_format == NumberFormat::kFloat32), "cast",
          "one of the two formats must be FP32");
  require_flat("cast", from_format, count, from);
  require_flat("cast", to_format, count, to);
  const bool packed = all_packed(from, to);
  const bool narrows = from_format == NumberFormat::kFloat32;
  return make_launch(
      "cast", narrows ? kernel_name("cast_to", to_format) : kernel_name("cast_from", from_format),
      flat_grid(limits, count, packed), kFlatThreads, CastParameters{count, from, to, packed});
}

Launch round_to(const Limits& limits, NumberFormat format, std::int64_t count, const float* from,
                float* to) {
  require_flat("round_to", NumberFormat::kFloat32, count, from, to);
  require(format != NumberFormat::kFloat32, "round_to", "FP32 needs no rounding");
  const bool packed = all_packed(from, to);
  return make_launch(
      "cast", format == NumberFormat::kTf32 ? "round_to_tf32" : kernel_name("round_to", format),
      flat_grid(limits, count, packed), kFlatThreads, CastParameters{count, from, to, packed});
}

}  // namespace headway::kernels::cuda
