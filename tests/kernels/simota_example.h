// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/simota/op.h"
#include "kernels/softmax/op.h"
#include "tests/kernels/random_array.h"

namespace headway::test {

/// Operands of SimOTA: a map of square cells with `per_cell` anchors each, random boxes of which one in six is missing,
/// and predictions.
struct SimotaExample {
  /// `coarse`: boxes, offsets and logarithms are multiples of powers of two, so that many costs are equal.
  SimotaExample(std::int64_t images, std::int64_t boxes_per_image, int cells, int per_cell,
                int classes, bool coarse, std::uint32_t seed)
      : shape{{images, boxes_per_image, std::int64_t{1} * cells * cells * per_cell}, classes} {
    std::mt19937 random(seed);
    const auto side = static_cast<float>(cells);
    for (int cell = 0; cell < cells * cells; ++cell) {
      const float x = (static_cast<float>(cell % cells) + 0.5F) / side;
      const float y = (static_cast<float>(cell / cells) + 0.5F) / side;
      for (int i = 0; i < per_cell; ++i) {
        const float half = (1 + 0.5F * static_cast<float>(i)) / side;
        anchors.insert(anchors.end(), {x - half, y - half, x + half, y + half});
        const float reach = kernels::kSimotaReach / side;
        regions.insert(regions.end(), {x - reach, y - reach, x + reach, y + reach});
      }
    }
    auto part = [&](unsigned parts) { return static_cast<float>(random() % parts) / 32; };
    // Other edges than those of cells: which side of one a centre lies on is a matter of rounding.
    auto edge = [&] {
      return part(20) + (coarse ? 0 : 3.7e-5F + 1e-4F * static_cast<float>(random() % 97));
    };
    for (std::int64_t i = 0; i < shape.places(); ++i) {
      const float left = edge();
      const float top = edge();
      boxes.insert(boxes.end(), {left, top, left + 0.0625F + part(10), top + 0.0625F + part(10)});
      labels.push_back(random() % 6 == 0 ? -1 : static_cast<int>(random() % (classes - 1U)));
    }
    offsets = random_floats(4 * shape.rows(), seed + 1);
    std::vector<float> scores = random_floats(shape.rows() * classes, seed + 2);
    if (coarse) {
      for (float& value : offsets) value = std::round(value);
      for (float& value : scores) value = -std::abs(std::round(value));
      log_probabilities = scores;
    } else {
      log_probabilities.resize(scores.size());
      kernels::log_softmax_forward(shape.rows(), classes, scores.data(), log_probabilities.data());
    }
    candidates.assign(static_cast<std::size_t>(shape.rows()), 9);
    predicted.assign(offsets.size(), -7);
    overlaps.assign(static_cast<std::size_t>(shape.match.pairs()), -7);
    costs.assign(overlaps.size(), -7);
    last.assign(labels.size(), -7);
    anchor_labels.assign(candidates.size(), -7);
    targets.assign(offsets.size(), -7);
  }

  kernels::Simota op() {
    return {.shape = shape,
            .boxes = boxes.data(),
            .labels = labels.data(),
            .anchors = anchors.data(),
            .regions = regions.data(),
            .log_probabilities = log_probabilities.data(),
            .offsets = offsets.data(),
            .candidates = candidates.data(),
            .predicted = predicted.data(),
            .overlaps = overlaps.data(),
            .costs = costs.data(),
            .last = last.data(),
            .anchor_labels = anchor_labels.data(),
            .targets = targets.data()};
  }
  /// Runs all passes, for `count` images at a time.
  void run(std::int64_t count) {
    for (std::int64_t image = 0; image < shape.match.images; image += count)
      for (const kernels::SimotaPass& pass : kernels::kSimotaPasses)
        pass.run(op().images(image, count));
  }
  void run() { run(shape.match.images); }

  kernels::SimotaShape shape;
  std::vector<float> boxes, anchors, regions, log_probabilities, offsets;
  std::vector<std::int32_t> labels;
  // Results.
  std::vector<std::uint8_t> candidates;
  std::vector<float> predicted, overlaps, costs, targets;
  std::vector<std::int32_t> last, anchor_labels;
};

}  // namespace headway::test
