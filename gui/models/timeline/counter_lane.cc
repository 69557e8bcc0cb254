// SPDX-License-Identifier: MIT
#include "gui/models/timeline/counter_lane.h"

#include <algorithm>
#include <cmath>

namespace headway::gui {

CounterLane::CounterLane(const trace::CounterSeries& series)
    : series_(&series), holds_before_(series.unit == "%" || series.unit.ends_with("/s")) {
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    float value = static_cast<float>(series.value[i]);
    if (!std::isfinite(value)) continue;
    if (time_.size() % kBlock == 0) {
      block_low_.push_back(value);
      block_high_.push_back(value);
    }
    time_.push_back(series.time[i]);
    value_.push_back(value);
    block_low_.back() = std::min(block_low_.back(), value);
    block_high_.back() = std::max(block_high_.back(), value);
    low_ = std::min<double>(low_, value);
    high_ = std::max<double>(high_, value);
  }
}

/// Index of the sample whose value applies at `t`; time_.size() when none does.
std::size_t CounterLane::sample_at(TimeNs t) const {
  if (time_.empty() || t < time_.front() || t > time_.back()) return time_.size();
  if (holds_before_) {
    return static_cast<std::size_t>(std::lower_bound(time_.begin(), time_.end(), t) -
                                    time_.begin());
  }
  return static_cast<std::size_t>(std::upper_bound(time_.begin(), time_.end(), t) - time_.begin()) -
         1;
}

std::optional<double> CounterLane::value_at(TimeNs t) const {
  std::size_t sample = sample_at(t);
  if (sample == time_.size()) return std::nullopt;
  return value_[sample];
}

/// Widens [low, high] by the samples [first, last).
void CounterLane::extend(std::size_t first, std::size_t last, double& low, double& high) const {
  while (first < last) {
    if (first % kBlock == 0 && first + kBlock <= last) {
      low = std::min<double>(low, block_low_[first / kBlock]);
      high = std::max<double>(high, block_high_[first / kBlock]);
      first += kBlock;
    } else {
      low = std::min<double>(low, value_[first]);
      high = std::max<double>(high, value_[first]);
      ++first;
    }
  }
}

void CounterLane::collect(const ColumnGrid& grid, std::vector<CounterColumn>& columns) const {
  if (time_.empty()) return;
  int begin = std::max(0, grid.column_of(time_.front()));
  int end = std::min(grid.width() - 1, grid.column_of(time_.back()));
  for (int x = begin; x <= end; ++x) {
    // All samples that apply at some time within the column.
    TimeNs from = std::clamp(grid.first_time(x), time_.front(), time_.back());
    TimeNs to = std::clamp(grid.first_time(x + 1) - DurationNs{1}, from, time_.back());
    std::size_t first = sample_at(from);
    double low = value_[first];
    double high = value_[first];
    extend(first, sample_at(to) + 1, low, high);
    columns.push_back({x, low, high});
  }
}

}  // namespace headway::gui
