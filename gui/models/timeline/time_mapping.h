// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/time.h"

namespace headway::gui {

/// Maps times to pixels of a drawing area: a start and a scale. A value type; every operation
/// returns a new one. Times must lie within ten years either way, as the loader ensures.
class TimeMapping {
 public:
  /// Lower limit of the zoom: at 100 pixels per nanosecond there is nothing more to see.
  static constexpr double kMinNsPerPixel = 0.01;

  TimeMapping() = default;
  /// `range` over `width` pixels; an empty range is widened to a microsecond, a width below 1 to 1.
  TimeMapping(Interval range, int width);

  int width() const { return width_; }
  double ns_per_pixel() const { return ns_per_pixel_; }
  /// Position of `t`, also outside of [0, width).
  double x_of(TimeNs t) const;
  /// The nanosecond under `x` (rounded towards the past).
  TimeNs time_at(double x) const;
  /// The whole nanoseconds that are at least partly visible.
  Interval visible() const;

  /// Zooms by `factor` (> 1: closer), keeping the time under `x` in place, within `bounds`.
  TimeMapping zoomed(double factor, double x, Interval bounds) const;
  /// Moves the view by `pixels` (> 0: later times), within `bounds`.
  TimeMapping panned(double pixels, Interval bounds) const;
  /// The same view, `by` later.
  TimeMapping shifted(DurationNs by) const;
  /// The same time range over another width.
  TimeMapping resized(int width) const;
  /// The same time range on a screen with `ratio` times as many pixels.
  TimeMapping on_screen(double ratio) const;

 private:
  friend class ColumnGrid;
  TimeMapping clamped(Interval bounds) const;

  // The start is a whole nanosecond plus a fraction, so that differences from it are exact at any
  // zoom, even in a trace of weeks.
  std::int64_t begin_ns_ = 0;
  double begin_fraction_ = 0;
  double ns_per_pixel_ = 1;
  int width_ = 1;
};

/// The pixel columns of a mapping, which drawing works with. Column c covers the time [edge(c),
/// edge(c + 1)). Made once per frame; cheap to query.
class ColumnGrid {
 public:
  explicit ColumnGrid(const TimeMapping& mapping);

  int width() const { return width_; }
  double ns_per_column() const { return ns_per_column_; }
  /// Nanoseconds after the start of the mapping; comparable with `edge`.
  double relative(TimeNs t) const { return static_cast<double>(t.ns - begin_ns_); }
  double edge(int column) const { return edges_[static_cast<std::size_t>(column)]; }
  /// The first whole nanosecond not before the column's left edge; `column` in [0, width()].
  TimeNs first_time(int column) const { return first_times_[static_cast<std::size_t>(column)]; }
  /// The column that contains `t`; -1 before the first, width() after the last.
  int column_of(TimeNs t) const;
  /// The number of whole columns by which this grid is later than `other`, a grid of the same scale
  /// and width; none when their columns do not coincide.
  std::optional<int> columns_after(const ColumnGrid& other) const;
  /// The last column touched by an interval that ends (exclusively) at `end`; -1 and width() as in
  /// column_of.
  int last_column_before(TimeNs end) const;

 private:
  int guess(double relative) const;

  std::int64_t begin_ns_;
  double inverse_;
  double ns_per_column_;
  int width_;
  std::vector<double> edges_;
  std::vector<TimeNs> first_times_;
};

}  // namespace headway::gui
