// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reference_trainer/data/random.h"

namespace headway::trainer {

/// A labelled rectangle in an image, as fractions of its extents: 0 is left or top, 1 right or
/// bottom.
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
/// The boxes whose centre lies in `part`, cut to it, as fractions of it.
std::vector<Box> crop_boxes(std::span<const Box> boxes, const Box& part);
/// Mirrors left and right.
void flip_boxes(std::span<Box> boxes);

/// The default boxes of SSD on square feature maps, and ground truth in terms of them.
class BoxEncoder {
 public:
  struct FeatureMap {
    int cells = 1;                     ///< per side
    float scale = 0.1F;                ///< of a box, as a fraction of the image
    float next_scale = 0.2F;           ///< of the following map: adds one larger square box
    std::vector<float> aspect_ratios;  ///< each is also used as its reciprocal

    /// Two squares, and two for each aspect ratio.
    std::int64_t anchors_per_cell() const {
      return 2 + 2 * static_cast<std::int64_t>(aspect_ratios.size());
    }
  };
  explicit BoxEncoder(std::span<const FeatureMap> maps);

  std::size_t count() const { return anchors_->size() / 4; }
  /// [count][4]: left, top, right, bottom.
  std::shared_ptr<const std::vector<float>> anchors() const { return anchors_; }

  /// [count][4]: the region of each anchor as SimOTA takes it (kernels/simota/op.h), a square around
  /// the centre of its cell that may reach beyond the image.
  std::shared_ptr<const std::vector<float>> regions() const { return regions_; }

  /// Fills in, for each anchor, the label (0: background, else the label of the box + 1) and the
  /// four offsets of the box that the anchor has to find, by the rules of kernels/box_match/op.h.
  void encode(std::span<const Box> boxes, std::span<std::int32_t> labels,
              std::span<float> offsets) const;
  /// The box that these offsets of an anchor describe.
  Box decode(std::size_t anchor, std::span<const float, 4> offsets) const;

 private:
  std::shared_ptr<const std::vector<float>> anchors_;
  std::shared_ptr<const std::vector<float>> regions_;
};

/// SSD's feature maps for square images of `size` pixels behind a backbone that halves the size
/// three times. Each map is half as large as the one before, down to one cell. Images of 300 pixels
/// have the paper's six maps, 38 to 1 cells, with the 8732 anchors of its setting for COCO; smaller
/// images have only the coarser maps.
std::vector<BoxEncoder::FeatureMap> ssd_feature_maps(int size);

}  // namespace headway::trainer
