// SPDX-License-Identifier: MIT
// Merges the sorted points of all threads and streams into one order: time is cut into stretches,
// which are merged in parallel.
#include <algorithm>

#include "analyzer/graph/edges.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

using Run = std::span<const PointId>;

/// The foremost points of the runs, earliest first; holds their times, so that most comparisons look
/// at nothing else.
class Front {
  struct Head {
    TimeNs time;
    PointId point;
    std::uint32_t run;
  };
  bool is_later(const Head& a, const Head& b) const {
    return a.time != b.time ? a.time > b.time : points_.before(b.point, a.point);
  }
  auto later() const {
    return [this](const Head& a, const Head& b) { return is_later(a, b); };
  }

 public:
  Front(const Points& points, std::vector<Run> runs) : points_(points), rest_(std::move(runs)) {
    for (std::uint32_t r = 0; r < rest_.size(); ++r) {
      if (!rest_[r].empty()) heap_.push_back(take(r));
    }
    std::make_heap(heap_.begin(), heap_.end(), later());
  }

  bool empty() const { return heap_.empty(); }

  /// Removes and returns the earliest point.
  PointId pop() {
    Head first = heap_.front();
    if (rest_[first.run].empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later());
      heap_.pop_back();
    } else {
      heap_.front() = take(first.run);
      sift_down();
    }
    return first.point;
  }

 private:
  Head take(std::uint32_t run) {
    PointId point = rest_[run].front();
    rest_[run] = rest_[run].subspan(1);
    return {points_.time(point), point, run};
  }
  void sift_down() {
    Head moving = heap_.front();
    std::size_t hole = 0;
    for (std::size_t child; (child = 2 * hole + 1) < heap_.size(); hole = child) {
      if (child + 1 < heap_.size() && is_later(heap_[child], heap_[child + 1])) ++child;
      if (!is_later(moving, heap_[child])) break;
      heap_[hole] = heap_[child];
    }
    heap_[hole] = moving;
  }

  const Points& points_;
  std::vector<Run> rest_;
  std::vector<Head> heap_;
};

}  // namespace

std::vector<PointId> merge_runs(const Points& points, const SortedRuns& runs) {
  constexpr std::size_t kPointsWorthAStretch = 100'000;
  const std::size_t stretches =
      std::clamp<std::size_t>(runs.points.size() / kPointsWorthAStretch, 1, 32);
  std::vector<Run> whole;
  Run longest;
  std::size_t begin = 0;
  for (std::size_t end : runs.ends) {
    whole.push_back(Run(runs.points).subspan(begin, end - begin));
    if (whole.back().size() > longest.size()) longest = whole.back();
    begin = end;
  }
  // Where each run crosses into each stretch; all points of one instant are in one stretch.
  std::vector<std::vector<std::size_t>> cuts(stretches + 1);
  std::vector<std::size_t> places(stretches + 1);
  for (std::size_t s = 0; s <= stretches; ++s) {
    for (Run run : whole) {
      auto cut = s == stretches ? run.end() : run.begin();
      if (s > 0 && s < stretches) {
        TimeNs time = points.time(longest[longest.size() * s / stretches]);
        cut = std::partition_point(run.begin(), run.end(),
                                   [&](PointId point) { return points.time(point) < time; });
      }
      cuts[s].push_back(static_cast<std::size_t>(cut - run.begin()));
      places[s] += cuts[s].back();
    }
  }
  std::vector<PointId> merged(runs.points.size());
  run_parallel(stretches, [&](std::size_t s) {
    std::vector<Run> parts;
    for (std::size_t r = 0; r < whole.size(); ++r)
      parts.push_back(whole[r].subspan(cuts[s][r], cuts[s + 1][r] - cuts[s][r]));
    std::size_t place = places[s];
    for (Front front(points, std::move(parts)); !front.empty();) merged[place++] = front.pop();
  });
  return merged;
}

}  // namespace headway::analyzer
