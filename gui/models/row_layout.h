// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/timeline_model.h"

namespace headway::gui {

/// Heights in logical pixels; follow the font.
struct RowMetrics {
  int heading = 20;
  int lane = 16;
  int counter = 36;
  int gap = 4;  ///< below each row
};

/// Which rows are shown where, given what is folded. Folding a row hides what is below it in the
/// tree and all but the first of its own lanes.
class RowLayout {
 public:
  struct Shown {
    RowId row;
    std::int64_t y = 0;
    int height = 0;  ///< without the gap
    std::uint32_t lanes = 0;
  };

  RowLayout() = default;
  RowLayout(const TimelineModel& model, RowMetrics metrics);

  /// Shows another timeline as this one was shown; `matches`: for each of its rows the row of the
  /// former that it stands for, none for new ones (match_rows).
  void adopt(const TimelineModel& model, const std::vector<RowId>& matches);

  const std::vector<Shown>& shown() const { return shown_; }
  std::int64_t height() const { return height_; }
  const RowMetrics& metrics() const { return metrics_; }
  void set_metrics(RowMetrics metrics);

  bool is_folded(RowId row) const { return folded_[row.value]; }
  void set_folded(RowId row, bool folded);
  void fold_all(bool folded);
  /// Unfolds what hides the row or, if `lane` is not the first, the lane.
  void reveal(RowId row, std::uint32_t lane);

  /// Index into shown() of the row at `y` (gap included); none above the first and below the last.
  std::optional<std::size_t> index_at(std::int64_t y) const;
  /// Index into shown() of the row, or of the folded row that hides it.
  std::optional<std::size_t> index_of(RowId row) const;
  /// The lane at `y` of a shown row, clamped to those shown.
  std::uint32_t lane_at(const Shown& shown, std::int64_t y) const;
  std::int64_t lane_y(const Shown& shown, std::uint32_t lane) const {
    return shown.y +
           std::int64_t{metrics_.lane} * std::min(lane, shown.lanes ? shown.lanes - 1 : 0);
  }

 private:
  void arrange();

  const TimelineModel* model_ = nullptr;
  RowMetrics metrics_;
  std::vector<bool> folded_;
  std::vector<Shown> shown_;
  std::int64_t height_ = 0;
};

}  // namespace headway::gui
