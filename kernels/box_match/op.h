// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Matches each default box ("anchor") of a detector with a true box, as SSD does (Liu et al.,
/// 2016), in three passes: overlaps, the best anchor of each box, the targets. Boxes and anchors
/// are [..][4] left, top, right, bottom, as fractions of the image. `labels` [images][boxes] is the
/// class of each box, from 0; negative: there is no box.
struct BoxMatchShape {
  std::int64_t images = 0;
  std::int64_t boxes = 0;  ///< room for boxes per image
  std::int64_t anchors = 0;

  constexpr std::int64_t pairs() const { return images * boxes * anchors; }
};

/// Offsets of centre and size are divided by these.
inline constexpr float kCentreVariance = 0.1F;
inline constexpr float kSizeVariance = 0.2F;

/// Intersection over union of two boxes; 0 when both are empty.
float box_overlap(const float* a, const float* b);

/// offsets [4]: centre and size of the box relative to the anchor, ((x - ax) / aw, (y - ay) / ah) /
/// 0.1 and (log w/aw, log h/ah) / 0.2.
void encode_box(const float* box, const float* anchor, float* offsets);
/// The box that these offsets of an anchor describe.
void decode_box(const float* offsets, const float* anchor, float* box);

/// overlaps [images][boxes][anchors]; 0 where there is no box.
void box_overlaps(const BoxMatchShape& shape, const float* boxes, const std::int32_t* labels,
                  const float* anchors, float* overlaps);

/// best [images][boxes]: the anchor that overlaps the box most, the first of equal ones; -1 where
/// none overlaps.
void best_anchors(const BoxMatchShape& shape, const float* overlaps, std::int32_t* best);

/// An anchor takes the box that it overlaps most when the overlap is more than half; the first of
/// equal ones. The best anchor of a box takes that box in any case; of two boxes the later.
/// anchor_labels [images][anchors] is the class + 1, or 0 for background. offsets
/// [images][anchors][4] are those of encode_box(); 0 for background.
void match_targets(const BoxMatchShape& shape, const float* boxes, const std::int32_t* labels,
                   const float* anchors, const float* overlaps, const std::int32_t* best,
                   std::int32_t* anchor_labels, float* offsets);

constexpr Work box_overlaps_work(const BoxMatchShape& s) {
  return {14 * s.pairs(), 4 * s.pairs() + 20 * s.images * s.boxes + 16 * s.anchors};
}
constexpr Work best_anchors_work(const BoxMatchShape& s) {
  return {s.pairs(), 4 * s.pairs() + 4 * s.images * s.boxes};
}
constexpr Work match_targets_work(const BoxMatchShape& s) {
  return {s.pairs() + 12 * s.images * s.anchors,
          4 * s.pairs() + 24 * s.images * s.boxes + 16 * s.anchors + 20 * s.images * s.anchors};
}

}  // namespace headway::kernels
