// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/timeline/time_mapping.h"
#include "trace/trace.h"

namespace headway::gui {

/// The values of a counter within one pixel column.
struct CounterColumn {
  std::int32_t x = 0;
  double low = 0;
  double high = 0;
};

/// A counter prepared for drawing: minima and maxima per block, so that a column costs the same at
/// any zoom and no peak is lost. Values that are not finite are left out. Refers to the series.
class CounterLane {
 public:
  explicit CounterLane(const trace::CounterSeries& series);

  /// Range of the axis: includes all values and zero.
  double low() const { return low_; }
  double high() const { return high_; }
  const trace::CounterSeries& series() const { return *series_; }
  /// The value that applies at `t`; none before the first sample and after the last.
  std::optional<double> value_at(TimeNs t) const;
  /// The least and greatest value of each column of the grid that has values, from left to right.
  void collect(const ColumnGrid& grid, std::vector<CounterColumn>& columns) const;

 private:
  static constexpr std::size_t kBlock = 32;

  std::size_t sample_at(TimeNs t) const;
  void extend(std::size_t first, std::size_t last, double& low, double& high) const;

  const trace::CounterSeries* series_;
  std::vector<TimeNs> time_;
  std::vector<float> value_;  ///< float is precise enough for a picture
  std::vector<float> block_low_;
  std::vector<float> block_high_;
  double low_ = 0;
  double high_ = 0;
  /// True for rates and shares, which apply to the time before their sample; false for levels,
  /// which apply from their sample on.
  bool holds_before_;
};

}  // namespace headway::gui
