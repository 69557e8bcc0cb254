// SPDX-License-Identifier: MIT
#include "kernels/box_match/boxes.cuh"
#include "kernels/box_match/launch.h"

namespace headway::kernels::cuda {

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
  const BoxMatchShape& s = a.shape;
  const BoxMatchArrays& of = a.arrays;
  for (std::int64_t i = global_thread(); i < s.images * s.anchors; i += global_threads()) {
    const std::int64_t place = i % s.anchors;
    write_target(i, box_for(a, i / s.anchors, place), of.boxes, of.labels,
                 load_box(of.anchors, place), of.anchor_labels, of.offsets);
  }
}

}  // namespace headway::kernels::cuda
