// SPDX-License-Identifier: MIT
#include "kernels/layout/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch transpose(const Limits& limits, NumberFormat format, LayoutVariant variant,
                 const LayoutParameters& by) {
  require(by.images > 0 && by.rows > 0 && by.columns > 0, "layout",
          "every extent must be positive");
  require_flat("layout", format, 1, by.from, by.to);
  // 16-bit formats are moved as bits.
  const std::string bits = format == NumberFormat::kFloat32 ? "32" : "16";
  if (variant == LayoutVariant::kNaive)
    return make_launch("layout", "layout_naive_" + bits,
                       flat_grid(limits, by.images * by.rows * by.columns, false), kFlatThreads,
                       by);
  constexpr std::int64_t kTile = 32;
  const std::int64_t tiles =
      by.images * ((by.rows + kTile - 1) / kTile) * ((by.columns + kTile - 1) / kTile);
  return make_launch("layout", "layout_tiled_" + bits, {blocks_for(tiles, 1, limits, 64)},
                     kFlatThreads, by);
}

}  // namespace

Launch nchw_to_nhwc(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant) {
  return transpose(limits, format, variant, {images, channels, pixels, from, to});
}

Launch nhwc_to_nchw(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant) {
  return transpose(limits, format, variant, {images, pixels, channels, from, to});
}

}  // namespace headway::kernels::cuda
