// SPDX-License-Identifier: MIT
#include "kernels/box_match/op.h"

#include <algorithm>
#include <cmath>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

float area(float width, float height) {
  return width > 0 && height > 0 ? width * height : 0;
}

/// Smallest size of a degenerate box, so that its logarithm is finite.
constexpr float kLeastExtent = 1e-6F;

/// The box that the anchor overlaps most, if by more than half; -1: none.
std::int64_t most_overlapping(const BoxMatchShape& s, const float* overlaps, std::int64_t anchor) {
  float most = 0.5F;
  std::int64_t owner = -1;
  for (std::int64_t box = 0; box < s.boxes; ++box) {
    const float overlap = overlaps[box * s.anchors + anchor];
    if (overlap <= most) continue;
    most = overlap;
    owner = box;
  }
  return owner;
}

void match_image(const BoxMatchShape& s, const float* boxes, const std::int32_t* labels,
                 const float* anchors, const float* overlaps, const std::int32_t* best,
                 std::int32_t* anchor_labels, float* offsets) {
  auto give = [&](std::int64_t anchor, std::int64_t box) {
    anchor_labels[anchor] = box < 0 ? 0 : labels[box] + 1;
    if (box < 0) {
      std::fill_n(offsets + 4 * anchor, 4, 0.0F);
    } else {
      encode_box(boxes + 4 * box, anchors + 4 * anchor, offsets + 4 * anchor);
    }
  };
  for (std::int64_t anchor = 0; anchor < s.anchors; ++anchor)
    give(anchor, most_overlapping(s, overlaps, anchor));
  for (std::int64_t box = 0; box < s.boxes; ++box)
    if (best[box] >= 0) give(best[box], box);
}

/// Calls body(image) for every image. An image is never split among threads: threads of a data
/// loader also call these functions, and a team of threads for each of them would compete for the
/// cores.
template <class Body>
void for_each_image(const BoxMatchShape& s, const Body& body) {
  const std::int64_t pairs = std::max<std::int64_t>(1, s.boxes * s.anchors);
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / 8 / pairs);
  parallel_for(s.images, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t image = begin; image < end; ++image) body(image);
  });
}

}  // namespace

float box_overlap(const float* a, const float* b) {
  const float shared = area(std::min(a[2], b[2]) - std::max(a[0], b[0]),
                            std::min(a[3], b[3]) - std::max(a[1], b[1]));
  const float all = area(a[2] - a[0], a[3] - a[1]) + area(b[2] - b[0], b[3] - b[1]) - shared;
  return all > 0 ? shared / all : 0;
}

void encode_box(const float* box, const float* anchor, float* offsets) {
  const float width = anchor[2] - anchor[0];
  const float height = anchor[3] - anchor[1];
  offsets[0] = ((box[0] + box[2]) - (anchor[0] + anchor[2])) / 2 / width / kCentreVariance;
  offsets[1] = ((box[1] + box[3]) - (anchor[1] + anchor[3])) / 2 / height / kCentreVariance;
  offsets[2] = std::log(std::max(box[2] - box[0], kLeastExtent) / width) / kSizeVariance;
  offsets[3] = std::log(std::max(box[3] - box[1], kLeastExtent) / height) / kSizeVariance;
}

void decode_box(const float* offsets, const float* anchor, float* box) {
  const float anchor_width = anchor[2] - anchor[0];
  const float anchor_height = anchor[3] - anchor[1];
  const float x = (anchor[0] + anchor[2]) / 2 + offsets[0] * kCentreVariance * anchor_width;
  const float y = (anchor[1] + anchor[3]) / 2 + offsets[1] * kCentreVariance * anchor_height;
  const float width = anchor_width * std::exp(offsets[2] * kSizeVariance);
  const float height = anchor_height * std::exp(offsets[3] * kSizeVariance);
  box[0] = x - width / 2;
  box[1] = y - height / 2;
  box[2] = x + width / 2;
  box[3] = y + height / 2;
}

void box_overlaps(const BoxMatchShape& s, const float* boxes, const std::int32_t* labels,
                  const float* anchors, float* overlaps) {
  for_each_image(s, [&](std::int64_t image) {
    for (std::int64_t box = image * s.boxes; box < (image + 1) * s.boxes; ++box) {
      float* to = overlaps + box * s.anchors;
      for (std::int64_t anchor = 0; anchor < s.anchors; ++anchor)
        to[anchor] = labels[box] < 0 ? 0 : box_overlap(anchors + 4 * anchor, boxes + 4 * box);
    }
  });
}

void best_anchors(const BoxMatchShape& s, const float* overlaps, std::int32_t* best) {
  for_each_image(s, [&](std::int64_t image) {
    for (std::int64_t box = image * s.boxes; box < (image + 1) * s.boxes; ++box) {
      const float* from = overlaps + box * s.anchors;
      const float* most = std::max_element(from, from + s.anchors);
      const bool any = s.anchors > 0 && *most > 0;
      best[box] = any ? static_cast<std::int32_t>(most - from) : -1;
    }
  });
}

void match_targets(const BoxMatchShape& s, const float* boxes, const std::int32_t* labels,
                   const float* anchors, const float* overlaps, const std::int32_t* best,
                   std::int32_t* anchor_labels, float* offsets) {
  for_each_image(s, [&](std::int64_t image) {
    match_image(s, boxes + 4 * image * s.boxes, labels + image * s.boxes, anchors,
                overlaps + image * s.boxes * s.anchors, best + image * s.boxes,
                anchor_labels + image * s.anchors, offsets + 4 * image * s.anchors);
  });
}

}  // namespace headway::kernels
