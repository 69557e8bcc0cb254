// SPDX-License-Identifier: MIT
#include "gui/models/figures/duration_histogram.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headway::gui {
namespace {

constexpr int kDecades = 13;  // up to 2.8 hours; what is longer is in the last bin
constexpr int kBins = kDecades * DurationHistogram::kBinsPerDecade + 1;

/// Edges of the bins. Below 10 ns there are more bins than whole nanoseconds, so some stay empty.
const std::array<std::int64_t, kBins>& edges() {
  static const std::array<std::int64_t, kBins> all = [] {
    std::array<std::int64_t, kBins> made{};
    for (int bin = 1; bin < kBins; ++bin) {
      const double power = static_cast<double>(bin - 1) / DurationHistogram::kBinsPerDecade;
      made[static_cast<std::size_t>(bin)] = std::llround(std::ceil(std::pow(10.0, power) - 1e-6));
    }
    return made;
  }();
  return all;
}

}  // namespace

int DurationHistogram::bins() {
  return kBins;
}

int DurationHistogram::bin_of(DurationNs duration) {
  const auto after = std::upper_bound(edges().begin(), edges().end(), duration.ns);
  return std::max(0, static_cast<int>(after - edges().begin()) - 1);
}

DurationNs DurationHistogram::least_of(int bin) {
  if (bin >= kBins) return {INT64_MAX};
  return {edges()[static_cast<std::size_t>(std::max(0, bin))]};
}

void DurationHistogram::add(DurationNs duration) {
  const int bin = bin_of(duration);
  std::int64_t& count = counts_[static_cast<std::size_t>(bin)];
  ++count;
  highest_ = std::max(highest_, count);
  first_ = events_ ? std::min(first_, bin) : bin;
  last_ = events_ ? std::max(last_, bin + 1) : bin + 1;
  ++events_;
}

}  // namespace headway::gui
