// SPDX-License-Identifier: MIT
// Boxes in kernels that match them with anchors.
#pragma once

#include "kernels/box_match/op.h"
#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

using Box = Pack<float, 4>;  // left, top, right, bottom

__device__ __forceinline__ Box load_box(const float* boxes, std::int64_t i) {
  return reinterpret_cast<const Box*>(boxes)[i];
}
__device__ __forceinline__ float box_area(float width, float height) {
  return width > 0 && height > 0 ? width * height : 0.0F;
}
/// Intersection over union.
__device__ __forceinline__ float overlap_of(const Box& a, const Box& b) {
  const float shared = box_area(fminf(a.at[2], b.at[2]) - fmaxf(a.at[0], b.at[0]),
                                fminf(a.at[3], b.at[3]) - fmaxf(a.at[1], b.at[1]));
  const float all = box_area(a.at[2] - a.at[0], a.at[3] - a.at[1]) +
                    box_area(b.at[2] - b.at[0], b.at[3] - b.at[1]) - shared;
  return all > 0 ? shared / all : 0.0F;
}

/// As encode_box().
__device__ __forceinline__ Box offsets_of(const Box& box, const Box& anchor) {
  constexpr float kLeastExtent = 1e-6F;  // keeps the logarithm of a degenerate box finite
  const float width = anchor.at[2] - anchor.at[0];
  const float height = anchor.at[3] - anchor.at[1];
  Box to;
  to.at[0] =
      ((box.at[0] + box.at[2]) - (anchor.at[0] + anchor.at[2])) / 2 / width / kCentreVariance;
  to.at[1] =
      ((box.at[1] + box.at[3]) - (anchor.at[1] + anchor.at[3])) / 2 / height / kCentreVariance;
  to.at[2] = logf(fmaxf(box.at[2] - box.at[0], kLeastExtent) / width) / kSizeVariance;
  to.at[3] = logf(fmaxf(box.at[3] - box.at[1], kLeastExtent) / height) / kSizeVariance;
  return to;
}
/// As decode_box().
__device__ __forceinline__ Box box_of(const Box& offsets, const Box& anchor) {
  const float anchor_width = anchor.at[2] - anchor.at[0];
  const float anchor_height = anchor.at[3] - anchor.at[1];
  const float x =
      (anchor.at[0] + anchor.at[2]) / 2 + offsets.at[0] * kCentreVariance * anchor_width;
  const float y =
      (anchor.at[1] + anchor.at[3]) / 2 + offsets.at[1] * kCentreVariance * anchor_height;
  const float width = anchor_width * expf(offsets.at[2] * kSizeVariance);
  const float height = anchor_height * expf(offsets.at[3] * kSizeVariance);
  return {{x - width / 2, y - height / 2, x + width / 2, y + height / 2}};
}

/// Writes the label and the targets of a row: those of box `owner`, or the background's for -1.
__device__ __forceinline__ void write_target(std::int64_t row, std::int64_t owner,
                                             const float* boxes, const std::int32_t* labels,
                                             const Box& anchor, std::int32_t* anchor_labels,
                                             float* offsets) {
  Box to{};
  if (owner >= 0) to = offsets_of(load_box(boxes, owner), anchor);
  anchor_labels[row] = owner < 0 ? 0 : labels[owner] + 1;
  reinterpret_cast<Box*>(offsets)[row] = to;
}

}  // namespace headway::kernels::cuda
