// SPDX-License-Identifier: MIT
#include "kernels/box_match/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/parallel.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

std::vector<float> random_boxes(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> boxes;
  for (std::int64_t i = 0; i < count; ++i) {
    const float left = 0.8F * uniform(engine);
    const float top = 0.8F * uniform(engine);
    boxes.insert(boxes.end(), {left, top, left + 0.05F + (0.95F - left) * uniform(engine),
                               top + 0.05F + (0.95F - top) * uniform(engine)});
  }
  return boxes;
}

/// In double, by the areas of a fine comparison of edges.
double reference_overlap(const float* a, const float* b) {
  const double width = std::min<double>(a[2], b[2]) - std::max<double>(a[0], b[0]);
  const double height = std::min<double>(a[3], b[3]) - std::max<double>(a[1], b[1]);
  const double shared = std::max(width, 0.0) * std::max(height, 0.0);
  const double all = (double{a[2]} - a[0]) * (double{a[3]} - a[1]) +
                     (double{b[2]} - b[0]) * (double{b[3]} - b[1]) - shared;
  return shared / all;
}

struct Matched {
  std::vector<float> overlaps;
  std::vector<std::int32_t> best;
  std::vector<std::int32_t> labels;
  std::vector<float> offsets;
};

Matched match(const BoxMatchShape& s, const std::vector<float>& boxes,
              const std::vector<std::int32_t>& labels, const std::vector<float>& anchors) {
  Matched m;
  m.overlaps.assign(static_cast<std::size_t>(s.pairs()), -7);
  m.best.assign(static_cast<std::size_t>(s.images * s.boxes), -7);
  m.labels.assign(static_cast<std::size_t>(s.images * s.anchors), -7);
  m.offsets.assign(m.labels.size() * 4, -7);
  box_overlaps(s, boxes.data(), labels.data(), anchors.data(), m.overlaps.data());
  best_anchors(s, m.overlaps.data(), m.best.data());
  match_targets(s, boxes.data(), labels.data(), anchors.data(), m.overlaps.data(), m.best.data(),
                m.labels.data(), m.offsets.data());
  return m;
}

}  // namespace

TEST_CASE("anchors get the boxes that a plain search in double finds, with their offsets") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (const BoxMatchShape& s : {BoxMatchShape{1, 1, 1}, {3, 5, 257}, {2, 7, 4099}, {4, 2, 63}}) {
      const std::vector<float> boxes = random_boxes(s.images * s.boxes, 1);
      const std::vector<float> anchors = random_boxes(s.anchors, 2);
      std::vector<std::int32_t> labels(static_cast<std::size_t>(s.images * s.boxes));
      for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 4) - 1;
      const Matched m = match(s, boxes, labels, anchors);
      std::size_t positive = 0;
      for (std::int64_t n = 0; n < s.images; ++n) {
        std::vector<std::int64_t> owner(static_cast<std::size_t>(s.anchors), -1);
        for (std::int64_t a = 0; a < s.anchors; ++a) {
          double most = 0.5;
          for (std::int64_t b = n * s.boxes; b < (n + 1) * s.boxes; ++b) {
            const double overlap = reference_overlap(&boxes[b * 4UL], &anchors[a * 4UL]);
            if (labels[static_cast<std::size_t>(b)] < 0 || overlap <= most) continue;
            most = overlap;
            owner[static_cast<std::size_t>(a)] = b;
          }
        }
        for (std::int64_t b = n * s.boxes; b < (n + 1) * s.boxes; ++b) {
          if (labels[static_cast<std::size_t>(b)] < 0) {
            CHECK(m.best[static_cast<std::size_t>(b)] == -1);
            continue;
          }
          std::int64_t closest = 0;
          for (std::int64_t a = 1; a < s.anchors; ++a)
            if (reference_overlap(&boxes[b * 4UL], &anchors[a * 4UL]) >
                reference_overlap(&boxes[b * 4UL], &anchors[closest * 4UL]))
              closest = a;
          if (reference_overlap(&boxes[b * 4UL], &anchors[closest * 4UL]) <= 0) continue;
          REQUIRE(m.best[static_cast<std::size_t>(b)] == closest);
          owner[static_cast<std::size_t>(closest)] = b;
        }
        for (std::int64_t a = 0; a < s.anchors; ++a) {
          const auto row = static_cast<std::size_t>(n * s.anchors + a);
          const std::int64_t box = owner[static_cast<std::size_t>(a)];
          if (box < 0) {
            REQUIRE(m.labels[row] == 0);
            REQUIRE(m.offsets[4 * row] == 0);
            continue;
          }
          ++positive;
          REQUIRE(m.labels[row] == labels[static_cast<std::size_t>(box)] + 1);
          const float* b = &boxes[box * 4UL];
          const float* anchor = &anchors[a * 4UL];
          const double width = double{anchor[2]} - anchor[0];
          CHECK(m.offsets[4 * row] ==
                doctest::Approx((double{b[0]} + b[2] - anchor[0] - anchor[2]) / 2 / width / 0.1)
                    .epsilon(1e-3));
          CHECK(m.offsets[4 * row + 2] ==
                doctest::Approx(std::log((double{b[2]} - b[0]) / width) / 0.2).epsilon(1e-3));
        }
      }
      CHECK((positive > 0 || s.anchors == 1));
    }
  }
}

TEST_CASE("an image at a time gives the same targets as all at once") {
  const BoxMatchShape all{5, 3, 301};
  const std::vector<float> boxes = random_boxes(all.images * all.boxes, 3);
  const std::vector<float> anchors = random_boxes(all.anchors, 4);
  std::vector<std::int32_t> labels(15);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 3);
  const Matched together = match(all, boxes, labels, anchors);
  for (std::int64_t n = 0; n < all.images; ++n) {
    const std::vector<float> mine(boxes.begin() + 12 * n, boxes.begin() + 12 * (n + 1));
    const std::vector<std::int32_t> its(labels.begin() + 3 * n, labels.begin() + 3 * (n + 1));
    const Matched one = match({1, 3, 301}, mine, its, anchors);
    CHECK(std::equal(one.labels.begin(), one.labels.end(), together.labels.begin() + 301 * n));
    CHECK(std::equal(one.offsets.begin(), one.offsets.end(), together.offsets.begin() + 1204 * n));
  }
}

TEST_CASE("no boxes, and boxes without extent, leave numbers behind") {
  const std::vector<float> anchors = {0, 0, 0.5F, 0.5F, 0.5F, 0.5F, 1, 1};
  const Matched none = match({1, 2, 2}, std::vector<float>(8), {-1, -1}, anchors);
  CHECK(none.labels == std::vector<std::int32_t>{0, 0});
  const Matched flat = match({1, 1, 2}, {0.2F, 0.2F, 0.2F, 0.4F}, {3}, anchors);
  CHECK(flat.labels == std::vector<std::int32_t>{0, 0});
  for (float offset : flat.offsets) CHECK(std::isfinite(offset));
}

}  // namespace headway::kernels
