// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Transposes `images` matrices of rows x columns.
struct LayoutParameters {
  std::int64_t images;
  std::int64_t rows;
  std::int64_t columns;
  const void* from;
  void* to;
};
enum class LayoutVariant {
  kNaive,  ///< a thread writes one element; its reads are `columns` apart
  kTiled,  ///< tiles of 32 x 32 in shared memory: both sides use whole cache lines
};

/// NCHW to NHWC and back, without conversion.
Launch nchw_to_nhwc(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant = LayoutVariant::kTiled);
Launch nhwc_to_nchw(const Limits& limits, NumberFormat format, std::int64_t images,
                    std::int64_t channels, std::int64_t pixels, const void* from, void* to,
                    LayoutVariant variant = LayoutVariant::kTiled);

}  // namespace headway::kernels::cuda
