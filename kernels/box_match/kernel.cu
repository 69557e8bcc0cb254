// SPDX-License-Identifier: MIT
#include "kernels/box_match/launch.h"

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

/// Neighbouring threads handle neighbouring anchors of one box.
HEADWAY_KERNEL(box_overlaps, 256, BoxMatchParameters) {
  const std::int64_t pairs = a.shape.images * a.shape.boxes * a.shape.anchors;
  for (std::int64_t i = global_thread(); i < pairs; i += global_threads()) {
    const std::int64_t box = i / a.shape.anchors;
    a.arrays.overlaps[i] = a.arrays.labels[box] < 0
                               ? 0.0F
                               : overlap_of(load_box(a.arrays.anchors, i % a.shape.anchors),
                                            load_box(a.arrays.boxes, box));
  }
}

/// A block per box; of equal overlaps the first wins.
HEADWAY_KERNEL(best_anchors, 256, BoxMatchParameters) {
  __shared__ int first;
  for (std::int64_t box = blockIdx.x; box < a.shape.images * a.shape.boxes; box += gridDim.x) {
    const float* from = a.arrays.overlaps + box * a.shape.anchors;
    float most = 0;
    int place = -1;
    for (std::int64_t i = threadIdx.x; i < a.shape.anchors; i += blockDim.x) {
      if (from[i] <= most) continue;
      most = from[i];
      place = static_cast<int>(i);
    }
    const float all = group_largest<256>(most);
    if (threadIdx.x == 0) first = 0x7FFFFFFF;
    __syncthreads();
    if (place >= 0 && most == all) atomicMin(&first, place);
    __syncthreads();
    if (threadIdx.x == 0) a.arrays.best[box] = all > 0 ? first : -1;
    __syncthreads();  // before `first` is reset
  }
}

/// The box of an anchor: the last box whose best anchor it is; otherwise the box that it overlaps
/// most, if by more than half.
__device__ inline std::int64_t box_for(const BoxMatchParameters& a, std::int64_t image,
                                       std::int64_t anchor) {
  const BoxMatchShape& s = a.shape;
  float most = 0.5F;
  std::int64_t owner = -1;
  std::int64_t own = -1;
  for (std::int64_t box = image * s.boxes; box < (image + 1) * s.boxes; ++box) {
    if (a.arrays.best[box] == anchor) own = box;
    const float overlap = a.arrays.overlaps[box * s.anchors + anchor];
    if (overlap <= most) continue;
    most = overlap;
    owner = box;
  }
  return own >= 0 ? own : owner;
}

HEADWAY_KERNEL(match_targets, 256, BoxMatchParameters) {
  constexpr float kLeastExtent = 1e-6F;  // keeps the logarithm of a degenerate box finite
  const BoxMatchShape& s = a.shape;
  for (std::int64_t i = global_thread(); i < s.images * s.anchors; i += global_threads()) {
    const std::int64_t place = i % s.anchors;
    const std::int64_t owner = box_for(a, i / s.anchors, place);
    Box to{};
    if (owner >= 0) {
      const Box box = load_box(a.arrays.boxes, owner);
      const Box anchor = load_box(a.arrays.anchors, place);
      const float width = anchor.at[2] - anchor.at[0];
      const float height = anchor.at[3] - anchor.at[1];
      to.at[0] =
          ((box.at[0] + box.at[2]) - (anchor.at[0] + anchor.at[2])) / 2 / width / kCentreVariance;
      to.at[1] =
          ((box.at[1] + box.at[3]) - (anchor.at[1] + anchor.at[3])) / 2 / height / kCentreVariance;
      to.at[2] = logf(fmaxf(box.at[2] - box.at[0], kLeastExtent) / width) / kSizeVariance;
      to.at[3] = logf(fmaxf(box.at[3] - box.at[1], kLeastExtent) / height) / kSizeVariance;
    }
    a.arrays.anchor_labels[i] = owner < 0 ? 0 : a.arrays.labels[owner] + 1;
    reinterpret_cast<Box*>(a.arrays.offsets)[i] = to;
  }
}

}  // namespace headway::kernels::cuda
