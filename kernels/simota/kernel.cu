// SPDX-License-Identifier: MIT
#include "kernels/box_match/boxes.cuh"
#include "kernels/simota/launch.h"

namespace headway::kernels::cuda {

constexpr float kNever = INFINITY;
constexpr float kLargestCost = 3.402823466e+38F;
constexpr int kNoPlace = 0x7FFFFFFF;

/// Whether the centre of `point` lies in `box`.
__device__ __forceinline__ bool centre_inside(const Box& point, const Box& box) {
  const float x = (point.at[0] + point.at[2]) / 2;
  const float y = (point.at[1] + point.at[3]) / 2;
  return x > box.at[0] && x < box.at[2] && y > box.at[1] && y < box.at[3];
}

HEADWAY_KERNEL(simota_decode, 256, SimotaParameters) {
  const Simota& of = a.op;
  const BoxMatchShape& s = of.shape.match;
  for (std::int64_t row = global_thread(); row < s.images * s.anchors; row += global_threads()) {
    const std::int64_t anchor = row % s.anchors;
    const std::int64_t first = row / s.anchors * s.boxes;
    const Box region = load_box(of.regions, anchor);
    bool candidate = false;
    for (std::int64_t box = first; box < first + s.boxes; ++box) {
      const Box edges = load_box(of.boxes, box);
      candidate = candidate || (of.labels[box] >= 0 &&
                                (centre_inside(region, edges) || centre_inside(edges, region)));
    }
    of.candidates[row] = candidate;
    reinterpret_cast<Box*>(of.predicted)[row] =
        box_of(load_box(of.offsets, row), load_box(of.anchors, anchor));
  }
}

/// Neighbouring threads handle neighbouring anchors of one box.
HEADWAY_KERNEL(simota_overlaps, 256, SimotaParameters) {
  const Simota& of = a.op;
  const BoxMatchShape& s = of.shape.match;
  for (std::int64_t i = global_thread(); i < s.images * s.boxes * s.anchors;
       i += global_threads()) {
    const std::int64_t box = i / s.anchors;
    const std::int64_t row = box / s.boxes * s.anchors + i % s.anchors;
    of.overlaps[i] = of.labels[box] < 0 || !of.candidates[row]
                         ? 0.0F
                         : overlap_of(load_box(of.predicted, row), load_box(of.boxes, box));
  }
}

HEADWAY_KERNEL(simota_costs, 256, SimotaParameters) {
  const Simota& of = a.op;
  const BoxMatchShape& s = of.shape.match;
  for (std::int64_t i = global_thread(); i < s.images * s.boxes * s.anchors;
       i += global_threads()) {
    const std::int64_t box = i / s.anchors;
    const std::int64_t anchor = i % s.anchors;
    const std::int64_t row = box / s.boxes * s.anchors + anchor;
    float cost = kNever;
    if (of.labels[box] >= 0 && of.candidates[row]) {
      const Box region = load_box(of.regions, anchor);
      const Box edges = load_box(of.boxes, box);
      const bool near = centre_inside(region, edges) && centre_inside(edges, region);
      cost = -of.log_probabilities[row * of.shape.classes + of.labels[box] + 1] -
             kSimotaIouWeight * logf(of.overlaps[i] + kSimotaLeastIou) +
             (near ? 0.0F : kSimotaOutside);
      if (!(cost < kLargestCost)) cost = kLargestCost;
    }
    of.costs[i] = cost;
  }
}

/// The smallest keys that a thread has seen, in order; of equal keys the first place.
struct Shortlist {
  float key[kSimotaMost];
  int place[kSimotaMost];

  __device__ __forceinline__ Shortlist() {
#pragma unroll
    for (int i = 0; i < kSimotaMost; ++i) {
      key[i] = kNever;
      place[i] = kNoPlace;
    }
  }
  /// Places must rise from call to call.
  __device__ __forceinline__ void add(float new_key, int new_place) {
    if (!(new_key < key[kSimotaMost - 1])) return;
#pragma unroll
    for (int i = kSimotaMost - 1; i >= 0; --i) {
      if (i > 0 && new_key < key[i - 1]) {
        key[i] = key[i - 1];
        place[i] = place[i - 1];
      } else if (new_key < key[i]) {
        key[i] = new_key;
        place[i] = new_place;
      }
    }
  }
  __device__ __forceinline__ void drop_first() {
#pragma unroll
    for (int i = 0; i + 1 < kSimotaMost; ++i) {
      key[i] = key[i + 1];
      place[i] = place[i + 1];
    }
    key[kSimotaMost - 1] = kNever;
  }
};

/// Removes the smallest key of a block's lists, of equal ones that with the first place, and
/// returns it. Infinite: the lists are empty. All threads of the block must call it.
__device__ inline float take_smallest(Shortlist& list, int* place) {
  __shared__ int first;
  const float smallest = -group_largest<256>(-list.key[0]);
  if (threadIdx.x == 0) first = kNoPlace;
  __syncthreads();
  const bool mine = list.key[0] < kNever && list.key[0] == smallest;
  if (mine) atomicMin(&first, list.place[0]);
  __syncthreads();
  *place = first;
  __syncthreads();  // before `first` is reset
  if (mine && list.place[0] == *place) list.drop_first();
  return smallest;
}

/// k of the block's box.
__device__ inline int anchors_of_box(const float* overlaps, std::int64_t anchors) {
  Shortlist largest;
  for (std::int64_t i = threadIdx.x; i < anchors; i += blockDim.x)
    if (overlaps[i] > 0) largest.add(-overlaps[i], static_cast<int>(i));
  float sum = 0;
  for (int n = 0; n < kSimotaMost; ++n) {
    int place = 0;
    const float key = take_smallest(largest, &place);
    if (!(key < kNever)) break;  // for all threads
    sum -= key;
  }
  return sum >= kSimotaMost ? kSimotaMost : sum >= 1 ? static_cast<int>(sum) : 1;
}

/// A block per box.
HEADWAY_KERNEL(simota_topk, 256, SimotaParameters) {
  const Simota& of = a.op;
  const BoxMatchShape& s = of.shape.match;
  const std::int64_t anchors = s.anchors;
  for (std::int64_t box = blockIdx.x; box < s.images * s.boxes; box += gridDim.x) {
    const int count = anchors_of_box(of.overlaps + box * anchors, anchors);
    Shortlist cheapest;
    for (std::int64_t i = threadIdx.x; i < anchors; i += blockDim.x)
      cheapest.add(of.costs[box * anchors + i], static_cast<int>(i));
    int last = -1;
    for (int n = 0; n < count; ++n) {
      int place = 0;
      if (!(take_smallest(cheapest, &place) < kNever)) break;  // for all threads
      last = place;
    }
    if (threadIdx.x == 0) of.last[box] = last;
  }
}

HEADWAY_KERNEL(simota_targets, 256, SimotaParameters) {
  const Simota& of = a.op;
  const BoxMatchShape& s = of.shape.match;
  for (std::int64_t row = global_thread(); row < s.images * s.anchors; row += global_threads()) {
    const std::int64_t anchor = row % s.anchors;
    const std::int64_t first = row / s.anchors * s.boxes;
    float lowest = kNever;
    std::int64_t cheapest = first;
    std::int64_t taker = -1;
    int takers = 0;
    for (std::int64_t box = first; box < first + s.boxes; ++box) {
      const float cost = of.costs[box * s.anchors + anchor];
      if (cost < lowest) {
        lowest = cost;
        cheapest = box;
      }
      const std::int32_t last = of.last[box];
      if (last < 0) continue;
      const float limit = of.costs[box * s.anchors + last];
      if (cost != limit ? cost > limit : anchor > last) continue;
      taker = box;
      ++takers;
    }
    write_target(row, takers > 1 ? cheapest : taker, of.boxes, of.labels,
                 load_box(of.anchors, anchor), of.anchor_labels, of.targets);
  }
}

}  // namespace headway::kernels::cuda
