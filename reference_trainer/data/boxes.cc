// SPDX-License-Identifier: MIT
#include "reference_trainer/data/boxes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"

namespace headway::trainer {
namespace {

constexpr float kCentreVariance = 0.1F;
constexpr float kSizeVariance = 0.2F;

Box around(float x, float y, float width, float height) {
  return {std::clamp(x - width / 2, 0.0F, 1.0F), std::clamp(y - height / 2, 0.0F, 1.0F),
          std::clamp(x + width / 2, 0.0F, 1.0F), std::clamp(y + height / 2, 0.0F, 1.0F), 0};
}

bool holds_centre(const Box& part, const Box& box) {
  const float x = (box.left + box.right) / 2;
  const float y = (box.top + box.bottom) / 2;
  return x > part.left && x < part.right && y > part.top && y < part.bottom;
}

}  // namespace

float iou(const Box& a, const Box& b) {
  const Box both{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                 std::min(a.bottom, b.bottom), 0};
  const float shared = both.area();
  const float all = a.area() + b.area() - shared;
  return all > 0 ? shared / all : 0;
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
  for (const FeatureMap& map : maps) {
    for (int row = 0; row < map.cells; ++row) {
      for (int column = 0; column < map.cells; ++column) {
        const float x = (static_cast<float>(column) + 0.5F) / static_cast<float>(map.cells);
        const float y = (static_cast<float>(row) + 0.5F) / static_cast<float>(map.cells);
        const float between = std::sqrt(map.scale * map.next_scale);
        anchors_.push_back(around(x, y, map.scale, map.scale));
        anchors_.push_back(around(x, y, between, between));
        for (float ratio : map.aspect_ratios) {
          const float root = std::sqrt(ratio);
          anchors_.push_back(around(x, y, map.scale * root, map.scale / root));
          anchors_.push_back(around(x, y, map.scale / root, map.scale * root));
        }
      }
    }
  }
}

BoxEncoder BoxEncoder::ssd300() {
  // Scales in pixels of 300 as in the paper's COCO setting: 21, 45, 99, 153, 207, 261, 315.
  constexpr float kPixels[] = {21, 45, 99, 153, 207, 261, 315};
  constexpr int kCells[] = {38, 19, 10, 5, 3, 1};
  const bool three[] = {false, true, true, true, false, false};
  std::vector<FeatureMap> maps;
  for (std::size_t i = 0; i < std::size(kCells); ++i) {
    FeatureMap map{kCells[i], kPixels[i] / 300, kPixels[i + 1] / 300, {2}};
    if (three[i]) map.aspect_ratios.push_back(3);
    maps.push_back(std::move(map));
  }
  return BoxEncoder(maps);
}

void BoxEncoder::encode(std::span<const Box> boxes, std::span<std::int32_t> labels,
                        std::span<float> offsets) const {
  HEADWAY_INVARIANT(labels.size() == count() && offsets.size() == 4 * count());
  std::ranges::fill(labels, 0);
  std::ranges::fill(offsets, 0.0F);
  std::vector<float> best(count(), 0.5F);
  std::vector<std::int32_t> owner(count(), -1);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    std::size_t closest = 0;
    float most = -1;
    for (std::size_t a = 0; a < count(); ++a) {
      const float overlap = iou(anchors_[a], boxes[b]);
      if (overlap > best[a]) {
        best[a] = overlap;
        owner[a] = static_cast<std::int32_t>(b);
      }
      if (overlap > most) {
        most = overlap;
        closest = a;
      }
    }
    if (most <= 0) continue;
    best[closest] = 2;  // nobody takes it away
    owner[closest] = static_cast<std::int32_t>(b);
  }
  for (std::size_t a = 0; a < count(); ++a) {
    if (owner[a] < 0) continue;
    const Box& box = boxes[static_cast<std::size_t>(owner[a])];
    const Box& anchor = anchors_[a];
    labels[a] = box.label + 1;
    float* to = &offsets[4 * a];
    to[0] = ((box.left + box.right) - (anchor.left + anchor.right)) / 2 / anchor.width() /
            kCentreVariance;
    to[1] = ((box.top + box.bottom) - (anchor.top + anchor.bottom)) / 2 / anchor.height() /
            kCentreVariance;
    to[2] = std::log(std::max(box.width(), 1e-6F) / anchor.width()) / kSizeVariance;
    to[3] = std::log(std::max(box.height(), 1e-6F) / anchor.height()) / kSizeVariance;
  }
}

Box BoxEncoder::decode(std::size_t anchor, std::span<const float, 4> offsets) const {
  const Box& a = anchors_[anchor];
  const float x = (a.left + a.right) / 2 + offsets[0] * kCentreVariance * a.width();
  const float y = (a.top + a.bottom) / 2 + offsets[1] * kCentreVariance * a.height();
  const float width = a.width() * std::exp(offsets[2] * kSizeVariance);
  const float height = a.height() * std::exp(offsets[3] * kSizeVariance);
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2, 0};
}

}  // namespace headway::trainer
