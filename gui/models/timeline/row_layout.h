// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Heights in logical pixels; derived from the font.
struct RowMetrics {
  int heading = 20;
  int lane = 16;
  int counter = 36;
  int gap = 4;  ///< below each row
};

/// Decides which rows are shown and where: folded, pinned to the top, hidden and filtered rows, and
/// the order of siblings. Folding a row hides the rows below it in the tree and all but the first
/// of its own lanes. Each change is O(rows), fast enough for ten thousand threads.
class RowLayout {
 public:
  struct Shown {
    RowId row;
    std::int64_t y = 0;
    int height = 0;  ///< without RowMetrics::gap
    std::uint32_t lanes = 0;
    std::uint8_t depth = 0;  ///< depth as shown: 0 for a pinned row
    bool pinned = false;
  };

  RowLayout() = default;
  /// Rows in the order of the model; each companion directly behind its row.
  RowLayout(const TimelineModel& model, RowMetrics metrics);

  /// Shows another timeline in the same arrangement. `matches`: for each of its rows the row of the
  /// former timeline that it replaces, none for new rows (see match_rows).
  void adopt(const TimelineModel& model, const std::vector<RowId>& matches);

  /// Pinned rows first, each with the rows below it.
  const std::vector<Shown>& shown() const { return shown_; }
  std::int64_t height() const { return height_; }
  /// Height of the pinned rows.
  std::int64_t pinned_height() const { return pinned_height_; }
  const RowMetrics& metrics() const { return metrics_; }
  void set_metrics(RowMetrics metrics);

  bool is_folded(RowId row) const { return folded_[row.value]; }
  void set_folded(RowId row, bool folded);
  void fold_all(bool folded);

  bool is_pinned(RowId row) const;
  void set_pinned(RowId row, bool pinned);
  /// Moves a row past its next shown sibling (a pinned row among the pinned ones). False at the
  /// end.
  bool move(RowId row, bool down);
  /// Puts a row directly before or behind a sibling. False when the rows are not siblings.
  bool move_to(RowId row, RowId sibling, bool behind);

  void hide(RowId row);
  /// Shows only rows whose name contains the text (ignoring case), with the rows above and below
  /// them; all rows when it is empty.
  void set_filter(std::string_view text);
  const std::string& filter() const { return filter_; }
  /// Shows only the rows set in `rows` (by row), with the rows above them. nullopt: no restriction.
  void set_only(std::optional<std::vector<bool>> rows);
  bool has_only() const { return only_.has_value(); }
  /// Rows that are hidden or filtered out.
  std::size_t hidden() const { return hidden_count_; }
  /// Undoes hiding and filters.
  void show_all();

  /// Makes the row visible and, if `lane` is not its first lane, the lane: unfolds and unhides.
  void reveal(RowId row, std::uint32_t lane);

  /// Index into shown() of the row at `y` (gap included); none above the first and below the last
  /// row.
  std::optional<std::size_t> index_at(std::int64_t y) const;
  /// Index into shown() of the row, or of the folded row that hides it; none if neither is shown.
  std::optional<std::size_t> index_of(RowId row) const;
  /// The lane of a shown row at `y`, clamped to its shown lanes.
  std::uint32_t lane_at(const Shown& shown, std::int64_t y) const;
  std::int64_t lane_y(const Shown& shown, std::uint32_t lane) const {
    return shown.y +
           std::int64_t{metrics_.lane} * std::min(lane, shown.lanes ? shown.lanes - 1 : 0);
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  bool is_filtered() const { return !filter_.empty() || only_.has_value(); }
  /// Per row: 1: it is shown; 2: a row below it is shown, so it is unfolded.
  std::vector<std::uint8_t> wanted() const;
  void place_companions();
  void arrange();
  void add(RowId row, std::uint8_t depth, bool pinned);
  /// Adds the rows of `sequence_` from `at` on that are below `depth`, with their descendants.
  void add_tree(std::size_t at, std::size_t count, std::uint8_t depth, bool pinned);
  std::size_t place_of(RowId row) const;
  RowId sibling_beside(RowId row, bool down) const;

  const TimelineModel* model_ = nullptr;
  RowMetrics metrics_;
  std::vector<bool> folded_;
  std::vector<bool> hidden_;
  std::vector<bool> kept_;       ///< shown despite the filters, because reveal() led there
  std::vector<RowId> sequence_;  ///< all rows, depth first, in the chosen order
  std::vector<RowId> pinned_;
  std::string filter_;
  std::optional<std::vector<bool>> only_;
  std::vector<Shown> shown_;
  std::vector<std::uint32_t> index_;  ///< by row: index into shown_
  std::vector<bool> done_;            ///< while arranging: already among the pinned rows
  std::vector<std::uint8_t> wanted_;
  std::int64_t height_ = 0;
  std::int64_t pinned_height_ = 0;
  std::size_t hidden_count_ = 0;
};

}  // namespace headway::gui
