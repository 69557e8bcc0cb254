// SPDX-License-Identifier: MIT
#include "gui/models/timeline/overview_box.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headway::gui {
namespace {

constexpr int kLeastWidth = 3;
constexpr int kEdge = 4;
/// A narrower box has no edges to grab.
constexpr int kLeastWithEdges = 5 * kEdge;

}  // namespace

OverviewBox overview_box(const TimeMapping& whole, Interval visible) {
  const int width = whole.width();
  int from = std::clamp(static_cast<int>(whole.x_of(visible.begin)), 0, width);
  int to = std::clamp(static_cast<int>(std::ceil(whole.x_of(visible.end))), 0, width);
  if (to - from < kLeastWidth) {
    from = std::clamp(from - 1, 0, std::max(0, width - kLeastWidth));
    to = std::min(width, from + kLeastWidth);
  }
  return {from, to};
}

OverviewGrip overview_grip(const OverviewBox& box, int width, int x) {
  if (box.from <= 0 && box.to >= width) return OverviewGrip::kBeside;
  if (box.to - box.from >= kLeastWithEdges) {
    if (std::abs(x - box.from) <= kEdge) return OverviewGrip::kBegin;
    if (std::abs(x - (box.to - 1)) <= kEdge) return OverviewGrip::kEnd;
    return x > box.from && x < box.to ? OverviewGrip::kBox : OverviewGrip::kBeside;
  }
  return x >= box.from - kEdge && x < box.to + kEdge ? OverviewGrip::kBox : OverviewGrip::kBeside;
}

}  // namespace headway::gui
