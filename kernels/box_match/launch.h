// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/box_match/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Which box each anchor is to find (kernels/box_match/op.h), FP32 throughout.
struct BoxMatchArrays {
  const float* boxes = nullptr;           ///< [images][boxes][4]
  const std::int32_t* labels = nullptr;   ///< [images][boxes]
  const float* anchors = nullptr;         ///< [anchors][4]
  float* overlaps = nullptr;              ///< [images][boxes][anchors]
  std::int32_t* best = nullptr;           ///< [images][boxes]
  std::int32_t* anchor_labels = nullptr;  ///< [images][anchors]
  float* offsets = nullptr;               ///< [images][anchors][4]
};
struct BoxMatchParameters {
  BoxMatchShape shape;
  BoxMatchArrays arrays;
};

/// The three passes; each needs what those before it wrote. An anchor looks for its box in the third, so that nothing
/// is scattered and two boxes never write to one place.
Launch box_overlaps(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& arrays);
Launch best_anchors(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& arrays);
Launch match_targets(const Limits& limits, const BoxMatchShape& shape,
                     const BoxMatchArrays& arrays);

}  // namespace headway::kernels::cuda
