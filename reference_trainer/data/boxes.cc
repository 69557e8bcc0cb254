// SPDX-License-Identifier: MIT
#include "reference_trainer/data/boxes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"
#include "kernels/box_match/op.h"
#include "kernels/simota/op.h"

namespace headway::trainer {
namespace {

/// Appends the box around a point, cut to the image.
void add_anchor(std::vector<float>& anchors, float x, float y, float width, float height) {
  for (float edge : {x - width / 2, y - height / 2, x + width / 2, y + height / 2})
    anchors.push_back(std::clamp(edge, 0.0F, 1.0F));
}

/// A box in the form that kernels take.
std::array<float, 4> edges(const Box& box) {
  return {box.left, box.top, box.right, box.bottom};
}

bool holds_centre(const Box& part, const Box& box) {
  const float x = (box.left + box.right) / 2;
  const float y = (box.top + box.bottom) / 2;
  return x > part.left && x < part.right && y > part.top && y < part.bottom;
}

}  // namespace

float iou(const Box& a, const Box& b) {
  return kernels::box_overlap(edges(a).data(), edges(b).data());
}

Box random_iou_crop(std::span<const Box> boxes, Random& random) {
  constexpr std::array<float, 7> kLeast = {-1, 0, 0.1F, 0.3F, 0.5F, 0.7F, 0.9F};
  constexpr int kTries = 50;
  const Box whole{0, 0, 1, 1, 0};
  if (boxes.empty()) return whole;
  auto uniform = [&](float least, float most) {
    return least + (most - least) * static_cast<float>(random.uniform());
  };
  for (;;) {
    const float least = kLeast[random.below(kLeast.size())];
    if (least < 0) return whole;
    for (int i = 0; i < kTries; ++i) {
      const float width = uniform(0.3F, 1);
      const float height = uniform(0.3F, 1);
      const float aspect = width / height;
      if (aspect < 0.5F || aspect > 2) continue;
      const float left = uniform(0, 1 - width);
      const float top = uniform(0, 1 - height);
      const Box part{left, top, left + width, top + height, 0};
      const auto overlaps = [&](const Box& box) { return iou(part, box) >= least; };
      const auto inside = [&](const Box& box) { return holds_centre(part, box); };
      if (std::ranges::any_of(boxes, overlaps) && std::ranges::any_of(boxes, inside)) return part;
    }
  }
}

std::vector<Box> crop_boxes(std::span<const Box> boxes, const Box& part) {
  std::vector<Box> result;
  for (const Box& box : boxes) {
    if (!holds_centre(part, box)) continue;
    auto x = [&](float value) {
      return (std::clamp(value, part.left, part.right) - part.left) / part.width();
    };
    auto y = [&](float value) {
      return (std::clamp(value, part.top, part.bottom) - part.top) / part.height();
    };
    result.push_back({x(box.left), y(box.top), x(box.right), y(box.bottom), box.label});
  }
  return result;
}

void flip_boxes(std::span<Box> boxes) {
  for (Box& box : boxes) {
    const float left = box.left;
    box.left = 1 - box.right;
    box.right = 1 - left;
  }
}

BoxEncoder::BoxEncoder(std::span<const FeatureMap> maps) {
  std::vector<float> anchors;
  std::vector<float> regions;
  for (const FeatureMap& map : maps) {
    const float reach = kernels::kSimotaReach / static_cast<float>(map.cells);
    for (int row = 0; row < map.cells; ++row) {
      for (int column = 0; column < map.cells; ++column) {
        const float x = (static_cast<float>(column) + 0.5F) / static_cast<float>(map.cells);
        const float y = (static_cast<float>(row) + 0.5F) / static_cast<float>(map.cells);
        const float between = std::sqrt(map.scale * map.next_scale);
        add_anchor(anchors, x, y, map.scale, map.scale);
        add_anchor(anchors, x, y, between, between);
        for (float ratio : map.aspect_ratios) {
          const float root = std::sqrt(ratio);
          add_anchor(anchors, x, y, map.scale * root, map.scale / root);
          add_anchor(anchors, x, y, map.scale / root, map.scale * root);
        }
        for (std::int64_t i = 0; i < map.anchors_per_cell(); ++i)
          regions.insert(regions.end(), {x - reach, y - reach, x + reach, y + reach});
      }
    }
  }
  anchors_ = std::make_shared<const std::vector<float>>(std::move(anchors));
  regions_ = std::make_shared<const std::vector<float>>(std::move(regions));
}

std::vector<BoxEncoder::FeatureMap> ssd_feature_maps(int size) {
  // Scales in pixels of 300 as in the paper's COCO setting: 21, 45, 99, 153, 207, 261, 315.
  constexpr std::array<float, 7> kPixels = {21, 45, 99, 153, 207, 261, 315};
  constexpr std::array<bool, 6> kThree = {false, true, true, true, false, false};
  std::vector<int> cells = {(size + 7) / 8};
  // Three cells are followed by one, as the paper's last convolution has no padding.
  while (cells.back() > 1 && cells.size() < kThree.size())
    cells.push_back(cells.back() == 3 ? 1 : (cells.back() + 1) / 2);
  std::vector<BoxEncoder::FeatureMap> maps;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t at = kThree.size() - cells.size() + i;  // the coarser ones of the six
    BoxEncoder::FeatureMap map{cells[i], kPixels[at] / 300, kPixels[at + 1] / 300, {2}};
    if (kThree[at]) map.aspect_ratios.push_back(3);
    maps.push_back(std::move(map));
  }
  return maps;
}

void BoxEncoder::encode(std::span<const Box> boxes, std::span<std::int32_t> labels,
                        std::span<float> offsets) const {
  HEADWAY_INVARIANT(labels.size() == count() && offsets.size() == 4 * count());
  const kernels::BoxMatchShape shape{1, static_cast<std::int64_t>(boxes.size()),
                                     static_cast<std::int64_t>(count())};
  std::vector<float> places;
  std::vector<std::int32_t> classes;
  for (const Box& box : boxes) {
    for (float edge : edges(box)) places.push_back(edge);
    classes.push_back(box.label);
  }
  std::vector<float> overlaps(boxes.size() * count());
  std::vector<std::int32_t> best(boxes.size());
  kernels::box_overlaps(shape, places.data(), classes.data(), anchors_->data(), overlaps.data());
  kernels::best_anchors(shape, overlaps.data(), best.data());
  kernels::match_targets(shape, places.data(), classes.data(), anchors_->data(), overlaps.data(),
                         best.data(), labels.data(), offsets.data());
}

Box BoxEncoder::decode(std::size_t anchor, std::span<const float, 4> offsets) const {
  std::array<float, 4> box;
  kernels::decode_box(offsets.data(), anchors_->data() + 4 * anchor, box.data());
  return {box[0], box[1], box[2], box[3], 0};
}

}  // namespace headway::trainer
