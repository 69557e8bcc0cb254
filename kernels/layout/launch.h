// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// `images` matrices of rows x columns, each to its transpose.
struct LayoutParameters {
  std::int64_t images;
  std::int64_t rows;
  std::int64_t columns;
  const void* from;
  void* to;
};
enum class LayoutVariant {
  kNaive,  ///< a thread writes an element; its reads lie `columns` apart
  kTiled,  ///< tiles of 32 x 32 through shared memory: both sides in whole lines
};

/// NCHW to NHWC and back, without change of format.
Launch nchw_to_nhwc(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant = LayoutVariant::kTiled);
Launch nhwc_to_nchw(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant = LayoutVariant::kTiled);

}  // namespace headway::kernels::cuda
