// SPDX-License-Identifier: MIT
#include "kernels/simota/op.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Point {
  float x;
  float y;
};

Point centre(const float* box) {
  return {(box[0] + box[2]) / 2, (box[1] + box[3]) / 2};
}

bool is_inside(const Point& point, const float* box) {
  return point.x > box[0] && point.x < box[2] && point.y > box[1] && point.y < box[3];
}

/// Calls body(first, last) on parts of `count` things, each of which costs `each` steps or so.
template <class Body>
void for_each_part(std::int64_t count, std::int64_t each, const Body& body) {
  const std::int64_t grain = kFlatGrain / 8 / std::max<std::int64_t>(1, each);
  parallel_for(count, grain, max_threads(), body);
}

/// Calls body(box, its image's first row) for every place of a box.
template <class Body>
void for_each_place(const Simota& op, const Body& body) {
  const BoxMatchShape& s = op.shape.match;
  for_each_part(op.shape.places(), s.anchors, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t box = begin; box < end; ++box) body(box, box / s.boxes * s.anchors);
  });
}

bool is_candidate(const Simota& op, std::int64_t first_box, std::int64_t anchor) {
  const float* region = op.regions + 4 * anchor;
  const Point cell = centre(region);
  for (std::int64_t box = first_box; box < first_box + op.shape.match.boxes; ++box) {
    const float* edges = op.boxes + 4 * box;
    if (op.labels[box] >= 0 && (is_inside(cell, edges) || is_inside(centre(edges), region)))
      return true;
  }
  return false;
}

float cost(const Simota& op, std::int64_t box, std::int64_t row, std::int64_t anchor,
           float overlap) {
  const float* region = op.regions + 4 * anchor;
  const float* edges = op.boxes + 4 * box;
  const bool near = is_inside(centre(region), edges) && is_inside(centre(edges), region);
  const float likelihood = op.log_probabilities[row * op.shape.classes + op.labels[box] + 1];
  const float sum = -likelihood - kSimotaIouWeight * std::log(overlap + kSimotaLeastIou) +
                    (near ? 0 : kSimotaOutside);
  constexpr float kMost = std::numeric_limits<float>::max();
  return sum < kMost ? sum : kMost;
}

/// k of a box.
std::size_t anchors_of_box(const float* overlaps, std::int64_t anchors) {
  std::array<float, kSimotaMost> largest = {};
  std::partial_sort_copy(overlaps, overlaps + anchors, largest.begin(), largest.end(),
                         std::greater<>());
  const float sum = std::accumulate(largest.begin(), largest.end(), 0.0F);
  return sum >= kSimotaMost ? kSimotaMost : sum >= 1 ? static_cast<std::size_t>(sum) : 1;
}

bool takes(const Simota& op, std::int64_t box, std::int64_t anchor) {
  const std::int32_t last = op.last[box];
  if (last < 0) return false;
  const float* costs = op.costs + box * op.shape.match.anchors;
  return costs[anchor] != costs[last] ? costs[anchor] < costs[last] : anchor <= last;
}

/// The box of an anchor; -1: none.
std::int64_t owner(const Simota& op, std::int64_t first_box, std::int64_t anchor) {
  std::int64_t taker = -1;
  std::int64_t cheapest = first_box;
  int takers = 0;
  auto cost_for = [&](std::int64_t box) { return op.costs[box * op.shape.match.anchors + anchor]; };
  for (std::int64_t box = first_box; box < first_box + op.shape.match.boxes; ++box) {
    if (cost_for(box) < cost_for(cheapest)) cheapest = box;
    if (!takes(op, box, anchor)) continue;
    taker = box;
    ++takers;
  }
  return takers > 1 ? cheapest : taker;
}

}  // namespace

void simota_decode(const Simota& op) {
  const BoxMatchShape& s = op.shape.match;
  for_each_part(op.shape.rows(), s.boxes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t anchor = row % s.anchors;
      op.candidates[row] = is_candidate(op, row / s.anchors * s.boxes, anchor);
      decode_box(op.offsets + 4 * row, op.anchors + 4 * anchor, op.predicted + 4 * row);
    }
  });
}

void simota_overlaps(const Simota& op) {
  for_each_place(op, [&](std::int64_t box, std::int64_t row) {
    float* to = op.overlaps + box * op.shape.match.anchors;
    for (std::int64_t i = 0; i < op.shape.match.anchors; ++i)
      to[i] = op.labels[box] < 0 || !op.candidates[row + i]
                  ? 0
                  : box_overlap(op.predicted + 4 * (row + i), op.boxes + 4 * box);
  });
}

void simota_costs(const Simota& op) {
  for_each_place(op, [&](std::int64_t box, std::int64_t row) {
    const std::int64_t pair = box * op.shape.match.anchors;
    for (std::int64_t i = 0; i < op.shape.match.anchors; ++i)
      op.costs[pair + i] = op.labels[box] < 0 || !op.candidates[row + i]
                               ? kInfinite
                               : cost(op, box, row + i, i, op.overlaps[pair + i]);
  });
}

void simota_topk(const Simota& op) {
  const std::int64_t anchors = op.shape.match.anchors;
  for_each_place(op, [&](std::int64_t box, std::int64_t) {
    const float* costs = op.costs + box * anchors;
    std::vector<std::int32_t> order;
    for (std::int64_t i = 0; i < anchors; ++i)
      if (costs[i] < kInfinite) order.push_back(static_cast<std::int32_t>(i));
    const std::size_t count =
        std::min(anchors_of_box(op.overlaps + box * anchors, anchors), order.size());
    op.last[box] = -1;
    if (count == 0) return;
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(order.begin(), last, order.end(), [costs](std::int32_t a, std::int32_t b) {
      return costs[a] != costs[b] ? costs[a] < costs[b] : a < b;
    });
    op.last[box] = *last;
  });
}

void simota_targets(const Simota& op) {
  const BoxMatchShape& s = op.shape.match;
  for_each_part(op.shape.rows(), s.boxes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t anchor = row % s.anchors;
      const std::int64_t box = owner(op, row / s.anchors * s.boxes, anchor);
      op.anchor_labels[row] = box < 0 ? 0 : op.labels[box] + 1;
      if (box < 0) {
        std::fill_n(op.targets + 4 * row, 4, 0.0F);
      } else {
        encode_box(op.boxes + 4 * box, op.anchors + 4 * anchor, op.targets + 4 * row);
      }
    }
  });
}

}  // namespace headway::kernels
