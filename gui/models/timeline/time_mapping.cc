// SPDX-License-Identifier: MIT
#include "gui/models/timeline/time_mapping.h"

#include <algorithm>
#include <cmath>

namespace headway::gui {

TimeMapping::TimeMapping(Interval range, int width)
    : begin_ns_(range.begin.ns), width_(std::max(1, width)) {
  double length = range.empty() ? 1000.0 : static_cast<double>((range.end - range.begin).ns);
  ns_per_pixel_ = std::max(kMinNsPerPixel, length / width_);
}

double TimeMapping::x_of(TimeNs t) const {
  return (static_cast<double>(t.ns - begin_ns_) - begin_fraction_) / ns_per_pixel_;
}

TimeNs TimeMapping::time_at(double x) const {
  return {begin_ns_ + static_cast<std::int64_t>(std::floor(begin_fraction_ + x * ns_per_pixel_))};
}

Interval TimeMapping::visible() const {
  double end = std::ceil(begin_fraction_ + width_ * ns_per_pixel_);
  return {{begin_ns_}, {begin_ns_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(end))}};
}

TimeMapping TimeMapping::zoomed(double factor, double x, Interval bounds) const {
  TimeMapping result = *this;
  // Zooms out no further than the whole trace with a margin.
  double widest =
      std::max<double>(1000, static_cast<double>((bounds.end - bounds.begin).ns)) * 1.1 / width_;
  result.ns_per_pixel_ =
      std::clamp(ns_per_pixel_ / factor, kMinNsPerPixel, std::max(kMinNsPerPixel, widest));
  double shift = begin_fraction_ + x * (ns_per_pixel_ - result.ns_per_pixel_);
  double whole = std::floor(shift);
  result.begin_ns_ += static_cast<std::int64_t>(whole);
  result.begin_fraction_ = shift - whole;
  return result.clamped(bounds);
}

TimeMapping TimeMapping::panned(double pixels, Interval bounds) const {
  TimeMapping result = *this;
  double shift = begin_fraction_ + pixels * ns_per_pixel_;
  double whole = std::floor(shift);
  result.begin_ns_ += static_cast<std::int64_t>(whole);
  result.begin_fraction_ = shift - whole;
  return result.clamped(bounds);
}

TimeMapping TimeMapping::shifted(DurationNs by) const {
  TimeMapping mapping = *this;
  mapping.begin_ns_ += by.ns;
  return mapping;
}

TimeMapping TimeMapping::resized(int width) const {
  TimeMapping result = *this;
  result.width_ = std::max(1, width);
  result.ns_per_pixel_ = std::max(kMinNsPerPixel, ns_per_pixel_ * width_ / result.width_);
  return result;
}

TimeMapping TimeMapping::on_screen(double ratio) const {
  TimeMapping result = *this;
  result.width_ = static_cast<int>(std::ceil(width_ * ratio));
  result.ns_per_pixel_ = ns_per_pixel_ / ratio;
  return result;
}

/// Keeps the middle of the view inside the trace: the view never shows only empty time, and an
/// event at either end can still be in the middle.
TimeMapping TimeMapping::clamped(Interval bounds) const {
  TimeMapping result = *this;
  std::int64_t half = static_cast<std::int64_t>(width_ * ns_per_pixel_ / 2);
  std::int64_t middle = begin_ns_ + half;
  std::int64_t nearest = std::clamp(middle, bounds.begin.ns, std::max(bounds.begin, bounds.end).ns);
  if (nearest != middle) {
    result.begin_ns_ = nearest - half;
    result.begin_fraction_ = 0;
  }
  return result;
}

ColumnGrid::ColumnGrid(const TimeMapping& mapping)
    : begin_ns_(mapping.begin_ns_),
      inverse_(1 / mapping.ns_per_pixel_),
      ns_per_column_(mapping.ns_per_pixel_),
      width_(mapping.width_) {
  edges_.reserve(static_cast<std::size_t>(width_) + 1);
  first_times_.reserve(static_cast<std::size_t>(width_) + 1);
  for (int column = 0; column <= width_; ++column) {
    edges_.push_back(mapping.begin_fraction_ + column * ns_per_column_);
    first_times_.push_back({begin_ns_ + static_cast<std::int64_t>(std::ceil(edges_.back()))});
  }
}

int ColumnGrid::guess(double relative) const {
  return static_cast<int>(
      std::clamp((relative - edges_[0]) * inverse_, 0.0, static_cast<double>(width_)));
}

int ColumnGrid::column_of(TimeNs t) const {
  double position = relative(t);
  if (position < edges_[0]) return -1;
  int column = guess(position);
  while (column < width_ && edge(column + 1) <= position) ++column;
  while (edge(column) > position) --column;
  return column;
}

std::optional<int> ColumnGrid::columns_after(const ColumnGrid& other) const {
  // Rounding moves a start by far less than this share of a column.
  constexpr double kSame = 1e-6;
  if (ns_per_column_ != other.ns_per_column_ || width_ != other.width_) return std::nullopt;
  const double columns =
      (static_cast<double>(begin_ns_ - other.begin_ns_) + edges_[0] - other.edges_[0]) * inverse_;
  const double whole = std::round(columns);
  if (std::fabs(columns - whole) > kSame || std::fabs(whole) > width_) return std::nullopt;
  return static_cast<int>(whole);
}

int ColumnGrid::last_column_before(TimeNs end) const {
  double position = relative(end);
  if (position <= edges_[0]) return -1;
  int column = guess(position);
  while (column < width_ && edge(column + 1) < position) ++column;
  while (edge(column) >= position) --column;
  return column;
}

}  // namespace headway::gui
