// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference_trainer/data/random.h"

namespace headway::trainer {

/// A labelled rectangle in an image, in parts of its extents: 0 is left or top, 1 right or bottom.
struct Box {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
  std::int32_t label = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  float area() const { return width() > 0 && height() > 0 ? width() * height() : 0; }
};

/// Intersection over union; 0 when both are empty.
float iou(const Box& a, const Box& b);

/// The random crop of SSD (Liu et al., 2016): with equal chance the whole image, or a part of at least
/// 0.1, 0.3, 0.5, 0.7, 0.9 or any overlap with some box, of scale 0.3 to 1 per side and aspect 0.5 to
/// 2. A crop that no box' centre lies in is tried again, 50 times at most. Returns the part.
Box random_iou_crop(std::span<const Box> boxes, Random& random);
/// The boxes whose centre lies in `part`, cut to it, in parts of it.
std::vector<Box> crop_boxes(std::span<const Box> boxes, const Box& part);
/// Mirrors left and right.
void flip_boxes(std::span<Box> boxes);

/// The default boxes of SSD on square feature maps, and ground truth in terms of them.
class BoxEncoder {
 public:
  struct FeatureMap {
    int cells = 1;                     ///< per side
    float scale = 0.1F;                ///< of a box, in parts of the image
    float next_scale = 0.2F;           ///< of the following map: gives one more square box
    std::vector<float> aspect_ratios;  ///< each also as its reciprocal, besides squares
  };
  explicit BoxEncoder(std::span<const FeatureMap> maps);
  /// The 8732 of SSD300.
  static BoxEncoder ssd300();

  std::size_t count() const { return anchors_.size(); }
  const std::vector<Box>& anchors() const { return anchors_; }

  /// Per anchor: label (0: background, else that of the box + 1), and the offsets of centre and size,
  /// divided by 0.1 and 0.2. An anchor takes the box that it overlaps most when that is more than
  /// half; every box has at least the anchor that overlaps it most. `offsets`: 4 per anchor.
  void encode(std::span<const Box> boxes, std::span<std::int32_t> labels,
              std::span<float> offsets) const;
  /// The box that an anchor's offsets mean.
  Box decode(std::size_t anchor, std::span<const float, 4> offsets) const;

 private:
  std::vector<Box> anchors_;
};

}  // namespace headway::trainer
