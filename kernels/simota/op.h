// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/box_match/op.h"
#include "kernels/work.h"

namespace headway::kernels {

/// Matches anchors with true boxes by what the model predicts: SimOTA, the assignment of YOLOX (Ge et
/// al., 2021), for a detector whose classes exclude each other. For each image:
/// - An anchor is a candidate where the centre of its cell lies in a box, or the centre of a box lies
///   in the anchor's region, the square of kSimotaReach cells to each side of its cell's centre.
/// - The cost of an anchor for a box is -log p[class] - 3·log(IoU + 1e-8), with the IoU of the
///   predicted and the true box, and 1e5 more unless both conditions hold for this pair.
/// - A box takes its k cheapest candidates. k is the sum of its ten largest IoUs with candidates,
///   rounded down, and at least 1 (dynamic k).
/// - An anchor that several boxes take gets the cheapest of all boxes in the image, as in YOLOX's
///   code.
/// Of equal costs the first anchor and the first box win, so that the result does not depend on
/// threads, and an image alone gets what it gets in a batch. There is no gradient.
struct SimotaShape {
  BoxMatchShape match;  ///< images, room for boxes, anchors per image
  int classes = 0;      ///< of the scores, background included

  constexpr std::int64_t rows() const { return match.images * match.anchors; }
  constexpr std::int64_t places() const { return match.images * match.boxes; }
};

inline constexpr float kSimotaReach = 2.5F;  ///< of a region, in cells
inline constexpr int kSimotaMost = 10;       ///< IoUs that k sums up, so also the largest k
inline constexpr float kSimotaIouWeight = 3;
inline constexpr float kSimotaOutside = 1e5F;
inline constexpr float kSimotaLeastIou = 1e-8F;  ///< added, so that the logarithm is finite

/// The operands of all passes; numbers are FP32, boxes are [..][4] left, top, right, bottom, as
/// fractions of the image. Each pass reads the results of earlier ones.
struct Simota {
  SimotaShape shape;
  const float* boxes = nullptr;              ///< [images][boxes][4]
  const std::int32_t* labels = nullptr;      ///< [images][boxes]: class from 0; negative: no box
  const float* anchors = nullptr;            ///< [anchors][4]
  const float* regions = nullptr;            ///< [anchors][4]; their centres are those of the cells
  const float* log_probabilities = nullptr;  ///< [images][anchors][classes]; class 0: background
  const float* offsets = nullptr;            ///< [images][anchors][4], predicted (decode_box)
  std::uint8_t* candidates = nullptr;        ///< [images][anchors]: 1 for candidates
  float* predicted = nullptr;                ///< [images][anchors][4]: boxes
  float* overlaps = nullptr;                 ///< [images][boxes][anchors]: IoU
  float* costs = nullptr;                    ///< [images][boxes][anchors]
  std::int32_t* last = nullptr;              ///< [images][boxes]: the dearest anchor taken
  std::int32_t* anchor_labels = nullptr;     ///< [images][anchors]: class + 1; 0: background
  float* targets = nullptr;                  ///< [images][anchors][4]: offsets to be predicted

  /// The same for `count` images from image `first` on.
  constexpr Simota images(std::int64_t first, std::int64_t count) const {
    Simota part = *this;
    part.shape.match.images = count;
    const std::int64_t place = first * shape.match.boxes;
    const std::int64_t row = first * shape.match.anchors;
    const std::int64_t pair = place * shape.match.anchors;
    part.boxes += 4 * place;
    part.labels += place;
    part.log_probabilities += row * shape.classes;
    part.offsets += 4 * row;
    part.candidates += row;
    part.predicted += 4 * row;
    part.overlaps += pair;
    part.costs += pair;
    part.last += place;
    part.anchor_labels += row;
    part.targets += 4 * row;
    return part;
  }
};

/// Writes `candidates` and `predicted`.
void simota_decode(const Simota& op);
/// Writes `overlaps`; 0 where there is no box, or the anchor is not a candidate.
void simota_overlaps(const Simota& op);
/// Writes `costs`; infinite where there is no box, or the anchor is not a candidate. A cost that is
/// not a number counts as the largest finite one, so that a diverged model has a loss that shows it.
void simota_costs(const Simota& op);
/// Writes `last`; -1 where there is no box or no candidate. A box takes the anchors whose cost is
/// lower than that of `last`, and of equal costs those up to `last`.
void simota_topk(const Simota& op);
/// Writes `anchor_labels` and `targets` (encode_box); 0 for background.
void simota_targets(const Simota& op);

constexpr Work simota_decode_work(const SimotaShape& s) {
  return {16 * s.rows() + 8 * s.match.pairs(),
          33 * s.rows() + 32 * s.match.anchors + 20 * s.places()};
}
constexpr Work simota_overlaps_work(const SimotaShape& s) {
  return {14 * s.match.pairs(), 4 * s.match.pairs() + 17 * s.rows() + 20 * s.places()};
}
constexpr Work simota_costs_work(const SimotaShape& s) {
  return {16 * s.match.pairs(),
          12 * s.match.pairs() + s.rows() + 16 * s.match.anchors + 20 * s.places()};
}
constexpr Work simota_topk_work(const SimotaShape& s) {
  return {2 * s.match.pairs(), 8 * s.match.pairs() + 8 * s.places()};
}
constexpr Work simota_targets_work(const SimotaShape& s) {
  return {2 * s.match.pairs() + 12 * s.rows(),
          4 * s.match.pairs() + 28 * s.places() + 16 * s.match.anchors + 20 * s.rows()};
}

/// One pass: a kernel on every device.
struct SimotaPass {
  std::string_view name;  ///< in the kernel's name
  Work (*work)(const SimotaShape& shape);
  void (*run)(const Simota& op);  ///< on the processor
};
/// In order.
inline constexpr std::array kSimotaPasses = {
    SimotaPass{"decode", simota_decode_work, simota_decode},
    SimotaPass{"overlaps", simota_overlaps_work, simota_overlaps},
    SimotaPass{"costs", simota_costs_work, simota_costs},
    SimotaPass{"topk", simota_topk_work, simota_topk},
    SimotaPass{"scatter", simota_targets_work, simota_targets}};

constexpr Work simota_work(const SimotaShape& s) {
  Work all;
  for (const SimotaPass& pass : kSimotaPasses) all = all + pass.work(s);
  return all;
}

}  // namespace headway::kernels
