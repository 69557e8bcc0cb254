// SPDX-License-Identifier: MIT
#include "kernels/simota/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/parallel.h"
#include "tests/kernels/simota_example.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::SimotaExample;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

double centre(const float* box, int axis) {
  return (double{box[axis]} + box[axis + 2]) / 2;
}
/// In float, because centres that lie on an edge but for rounding are common.
bool holds(const float* box, const float* other) {
  const float x = (other[0] + other[2]) / 2;
  const float y = (other[1] + other[3]) / 2;
  return x > box[0] && x < box[2] && y > box[1] && y < box[3];
}

/// The offsets' box, in double.
std::vector<double> decoded(const float* offsets, const float* anchor) {
  const double w = double{anchor[2]} - anchor[0], h = double{anchor[3]} - anchor[1];
  const double x = centre(anchor, 0) + 0.1 * offsets[0] * w,
               y = centre(anchor, 1) + 0.1 * offsets[1] * h;
  const double half_w = w * std::exp(0.2 * offsets[2]) / 2,
               half_h = h * std::exp(0.2 * offsets[3]) / 2;
  return {x - half_w, y - half_h, x + half_w, y + half_h};
}

double overlap_of(const std::vector<double>& a, const float* b) {
  const double w = std::min<double>(a[2], b[2]) - std::max<double>(a[0], b[0]);
  const double h = std::min<double>(a[3], b[3]) - std::max<double>(a[1], b[1]);
  const double shared = std::max(w, 0.0) * std::max(h, 0.0);
  return shared /
         ((a[2] - a[0]) * (a[3] - a[1]) + (double{b[2]} - b[0]) * (double{b[3]} - b[1]) - shared);
}

/// Compares IoUs and costs of all pairs with double precision.
void check_costs(const SimotaExample& e) {
  const BoxMatchShape& s = e.shape.match;
  for (std::int64_t box = 0; box < e.shape.places(); ++box) {
    const std::int64_t first = box / s.boxes * s.boxes;
    for (std::int64_t anchor = 0; anchor < s.anchors; ++anchor) {
      const std::int64_t row = box / s.boxes * s.anchors + anchor;
      const float* region = &e.regions[at(4 * anchor)];
      bool candidate = false;
      for (std::int64_t other = first; other < first + s.boxes; ++other)
        candidate |= e.labels[at(other)] >= 0 && (holds(&e.boxes[at(4 * other)], region) ||
                                                  holds(region, &e.boxes[at(4 * other)]));
      REQUIRE(e.candidates[at(row)] == candidate);
      const float overlap = e.overlaps[at(box * s.anchors + anchor)];
      const float cost = e.costs[at(box * s.anchors + anchor)];
      if (e.labels[at(box)] < 0 || !candidate) {
        REQUIRE(overlap == 0);
        REQUIRE(cost == std::numeric_limits<float>::infinity());
        continue;
      }
      const float* edges = &e.boxes[at(4 * box)];
      const double expected =
          overlap_of(decoded(&e.offsets[at(4 * row)], &e.anchors[at(4 * anchor)]), edges);
      REQUIRE(std::abs(overlap - expected) < 1e-5);
      const bool near = holds(edges, region) && holds(region, edges);
      const double likelihood =
          e.log_probabilities[at(row * e.shape.classes + e.labels[at(box)] + 1)];
      const double sum = -likelihood - 3 * std::log(overlap + 1e-8) + (near ? 0 : 1e5);
      REQUIRE(cost == doctest::Approx(sum).epsilon(1e-6));
    }
  }
}

/// The box of each anchor, -1 for none, from IoUs and costs as YOLOX's code finds it: a matrix of boxes and anchors.
std::vector<std::int64_t> matched(const SimotaExample& e) {
  const BoxMatchShape& s = e.shape.match;
  std::vector<std::int64_t> owners(at(e.shape.rows()), -1);
  for (std::int64_t image = 0; image < s.images; ++image) {
    std::vector<std::vector<bool>> matrix(at(s.boxes), std::vector<bool>(at(s.anchors)));
    auto cost = [&](std::int64_t box, std::int64_t anchor) {
      return e.costs[at((image * s.boxes + box) * s.anchors + anchor)];
    };
    for (std::int64_t box = 0; box < s.boxes; ++box) {
      if (e.labels[at(image * s.boxes + box)] < 0) continue;
      const auto begin = e.overlaps.begin() + (image * s.boxes + box) * s.anchors;
      std::vector<float> overlaps(begin, begin + s.anchors);
      std::ranges::sort(overlaps, std::greater<>());
      overlaps.resize(std::min<std::size_t>(overlaps.size(), 10));
      const auto k = static_cast<std::size_t>(
          std::max(1.0F, std::accumulate(overlaps.begin(), overlaps.end(), 0.0F)));
      std::vector<std::int64_t> order(at(s.anchors));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(
          order, [&](std::int64_t a, std::int64_t b) { return cost(box, a) < cost(box, b); });
      for (std::size_t i = 0; i < k && std::isfinite(cost(box, order[i])); ++i)
        matrix[at(box)][at(order[i])] = true;
    }
    for (std::int64_t anchor = 0; anchor < s.anchors; ++anchor) {
      std::vector<std::int64_t> takers;
      std::int64_t cheapest = 0;
      for (std::int64_t box = 0; box < s.boxes; ++box) {
        if (matrix[at(box)][at(anchor)]) takers.push_back(box);
        if (cost(box, anchor) < cost(cheapest, anchor)) cheapest = box;
      }
      if (takers.empty()) continue;
      owners[at(image * s.anchors + anchor)] =
          image * s.boxes + (takers.size() > 1 ? cheapest : takers[0]);
    }
  }
  return owners;
}

/// Returns the number of anchors that have a box.
std::int64_t check_targets(const SimotaExample& e) {
  const std::vector<std::int64_t> owners = matched(e);
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < e.shape.rows(); ++row) {
    const std::int64_t box = owners[at(row)];
    std::vector<float> offsets(4);
    if (box >= 0)
      encode_box(&e.boxes[at(4 * box)], &e.anchors[at(4 * (row % e.shape.match.anchors))],
                 offsets.data());
    CAPTURE(row);
    REQUIRE(e.anchor_labels[at(row)] == (box < 0 ? 0 : e.labels[at(box)] + 1));
    for (std::int64_t i = 0; i < 4; ++i) REQUIRE(e.targets[at(4 * row + i)] == offsets[at(i)]);
    count += box >= 0;
  }
  return count;
}

/// One image with a map of 8 x 8 cells, one anchor each, and two boxes.
SimotaExample small_example() {
  SimotaExample e(1, 2, 8, 1, 3, true, 5);
  e.boxes = {0.25F, 0.25F, 0.5F, 0.5F, 0.75F, 0.75F, 1, 1};
  e.labels = {0, 1};
  std::ranges::fill(e.offsets, 0.0F);
  std::ranges::fill(e.log_probabilities, -1.0F);
  return e;
}
/// Makes the anchor of a cell predict `box` exactly.
void predict(SimotaExample& e, int anchor, const float* box) {
  encode_box(box, &e.anchors[at(4 * anchor)], &e.offsets[at(4 * anchor)]);
}
std::vector<std::int64_t> rows_of(const SimotaExample& e, int label) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < e.shape.rows(); ++i)
    if (e.anchor_labels[at(i)] == label) rows.push_back(i);
  return rows;
}

}  // namespace

TEST_CASE("SimOTA's costs agree with double precision, its matches with those of YOLOX's code") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (bool coarse : {false, true}) {
      for (auto [images, boxes, cells, per_cell] :
           {std::array{1, 1, 1, 1}, {3, 5, 9, 2}, {2, 20, 19, 3}, {5, 7, 4, 4}}) {
        SimotaExample e(images, boxes, cells, per_cell, 5, coarse, 11);
        CAPTURE(coarse);
        CAPTURE(cells);
        e.run();
        check_costs(e);
        const std::int64_t count = check_targets(e);
        if (cells > 1) CHECK(count > images * boxes / 2);
      }
    }
  }
}

TEST_CASE("an image at a time is matched as in a batch, to the bit") {
  for (bool coarse : {false, true}) {
    SimotaExample together(6, 4, 11, 2, 4, coarse, 3);
    SimotaExample apart = together;
    together.run();
    apart.run(1);
    CHECK(apart.candidates == together.candidates);
    CHECK(apart.overlaps == together.overlaps);
    CHECK(apart.costs == together.costs);
    CHECK(apart.last == together.last);
    CHECK(apart.anchor_labels == together.anchor_labels);
    CHECK(apart.targets == together.targets);
  }
}

TEST_CASE("a box takes as many anchors as predict it well, one at least and ten at most") {
  for (int good : {0, 1, 3, 12}) {
    CAPTURE(good);
    SimotaExample e = small_example();
    for (float& offset : e.offsets) offset = 40;  // huge boxes overlap next to nothing
    // Anchors of four rows and columns are near the box. One more predicts half of it, so that the
    // sum of IoUs is not close to an integer.
    for (int i = 0; i < good; ++i) predict(e, 9 + i % 4 + 8 * (i / 4), e.boxes.data());
    const std::array half = {0.25F, 0.25F, 0.375F, 0.5F};
    predict(e, 36, half.data());
    e.run();
    check_targets(e);
    CHECK(rows_of(e, 1).size() == static_cast<std::size_t>(std::clamp(good, 1, 10)));
    CHECK(rows_of(e, 2).size() == 1);
  }
}

TEST_CASE("of equal costs the first anchors are taken") {
  SimotaExample e = small_example();
  e.labels[1] = -1;
  e.run();
  check_targets(e);
  // Anchors 18, 19, 26 and 27 lie alike around the box's centre. Their IoUs are 0.39 each, and the
  // next six 0.10.
  CHECK(e.costs[18] == e.costs[27]);
  CHECK(e.last[0] == 19);
  CHECK(rows_of(e, 1) == std::vector<std::int64_t>{18, 19});
}

TEST_CASE("an anchor that two boxes take gets the cheaper one, of equal ones the first") {
  for (float second : {-1.0F, -0.5F}) {
    CAPTURE(second);
    SimotaExample e = small_example();
    std::copy_n(e.boxes.begin(), 4, e.boxes.begin() + 4);  // both boxes are the same
    for (float& offset : e.offsets) offset = 40;
    predict(e, 27, e.boxes.data());
    e.log_probabilities[27 * 3 + 2] = second;
    e.run();
    check_targets(e);
    CHECK(e.anchor_labels[27] == (second == -1.0F ? 1 : 2));
    CHECK(rows_of(e, 1).size() + rows_of(e, 2).size() == 1);
  }
}

TEST_CASE("anchors far from a box are taken only where no near one is left") {
  SimotaExample e = small_example();
  e.labels[1] = -1;
  e.boxes = {0.25F, 0.25F, 0.5F, 0.375F, 0, 0, 0, 0};  // holds the centres of two cells
  for (int anchor = 0; anchor < 64; ++anchor) predict(e, anchor, e.boxes.data());
  e.log_probabilities[9 * 3 + 1] = 0;  // the likeliest, but outside
  e.run();
  check_targets(e);
  const std::vector<std::int64_t> rows = rows_of(e, 1);
  CHECK(rows.size() >= 9);  // ten IoUs of nearly 1
  for (std::int64_t near : {18, 19}) CHECK(std::ranges::count(rows, near) == 1);
  CHECK(e.costs[18] < 2);
  CHECK(e.costs[9] >= 1e5F);
}

TEST_CASE("no boxes, and predictions that are not numbers, leave labels and finite targets") {
  SimotaExample none = small_example();
  none.labels = {-1, -1};
  none.run();
  CHECK(std::ranges::count(none.anchor_labels, 0) == 64);
  CHECK(none.last == std::vector<std::int32_t>{-1, -1});
  SimotaExample diverged = small_example();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::ranges::fill(diverged.offsets, kNan);
  std::ranges::fill(diverged.log_probabilities, kNan);
  diverged.run();
  // An anchor is still matched, so that the loss is not a number either.
  CHECK(rows_of(diverged, 1).size() == 1);
  for (float target : diverged.targets) CHECK(std::isfinite(target));
}

}  // namespace headway::kernels
