// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/box_match/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Arrays of the matching of anchors with boxes (kernels/box_match/op.h); all numbers are FP32.
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

/// The three passes; each reads the results of the previous ones. In the third, each anchor looks
/// for its box, so that nothing is scattered and two boxes never write to the same place.
Launch box_overlaps(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& arrays);
Launch best_anchors(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& arrays);
Launch match_targets(const Limits& limits, const BoxMatchShape& shape,
                     const BoxMatchArrays& arrays);

}  // namespace headway::kernels::cuda
