// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Heights in logical pixels; follow the font.
struct RowMetrics {
  int heading = 20;
  int lane = 16;
  int counter = 36;
  int gap = 4;  ///< below each row
};

/// Which rows are shown where: what is folded, pinned to the top, hidden, filtered out and in which
/// order siblings stand. Folding a row hides what is below it in the tree and all but the first of
/// its own lanes. O(rows) for each change, so for ten thousand threads as well.
class RowLayout {
 public:
  struct Shown {
    RowId row;
    std::int64_t y = 0;
    int height = 0;  ///< without the gap
    std::uint32_t lanes = 0;
    std::uint8_t depth = 0;  ///< as shown: what is pinned begins at 0
    bool pinned = false;
  };

  RowLayout() = default;
  /// Rows in the order of the model, companions directly behind theirs.
  RowLayout(const TimelineModel& model, RowMetrics metrics);

  /// Shows another timeline as this one was shown; `matches`: for each of its rows the row of the
  /// former that it stands for, none for new ones (match_rows).
  void adopt(const TimelineModel& model, const std::vector<RowId>& matches);

  /// Pinned rows first, each with what is below it.
  const std::vector<Shown>& shown() const { return shown_; }
  std::int64_t height() const { return height_; }
  /// Of the pinned rows.
  std::int64_t pinned_height() const { return pinned_height_; }
  const RowMetrics& metrics() const { return metrics_; }
  void set_metrics(RowMetrics metrics);

  bool is_folded(RowId row) const { return folded_[row.value]; }
  void set_folded(RowId row, bool folded);
  void fold_all(bool folded);

  bool is_pinned(RowId row) const;
  void set_pinned(RowId row, bool pinned);
  /// Moves a row among its siblings (among the pinned ones when it is pinned), past one that is
  /// shown. False at the end.
  bool move(RowId row, bool down);
  /// Puts a row just before, or just behind, a sibling. False when they are none.
  bool move_to(RowId row, RowId sibling, bool behind);

  void hide(RowId row);
  /// Shows only rows whose name contains the text (in either case) with what is above and below
  /// them; all when it is empty.
  void set_filter(std::string_view text);
  const std::string& filter() const { return filter_; }
  /// Shows only these rows, with those above them; by row. None: no such choice.
  void set_only(std::optional<std::vector<bool>> rows);
  bool has_only() const { return only_.has_value(); }
  /// Rows that are hidden or filtered out.
  std::size_t hidden() const { return hidden_count_; }
  /// Undoes hiding and filters.
  void show_all();

  /// Unfolds and shows what hides the row or, if `lane` is not the first, the lane.
  void reveal(RowId row, std::uint32_t lane);

  /// Index into shown() of the row at `y` (gap included); none above the first and below the last.
  std::optional<std::size_t> index_at(std::int64_t y) const;
  /// Index into shown() of the row, or of the folded row that hides it; none when neither is shown.
  std::optional<std::size_t> index_of(RowId row) const;
  /// The lane at `y` of a shown row, clamped to those shown.
  std::uint32_t lane_at(const Shown& shown, std::int64_t y) const;
  std::int64_t lane_y(const Shown& shown, std::uint32_t lane) const {
    return shown.y +
           std::int64_t{metrics_.lane} * std::min(lane, shown.lanes ? shown.lanes - 1 : 0);
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  bool is_filtered() const { return !filter_.empty() || only_.has_value(); }
  /// Per row: 1 it is shown, 2 it leads to one that is, so it is unfolded.
  std::vector<std::uint8_t> wanted() const;
  void place_companions();
  void arrange();
  void add(RowId row, std::uint8_t depth, bool pinned);
  /// Adds the rows of `sequence_` from `at` that stand below `depth`, with what is below them.
  void add_tree(std::size_t at, std::size_t count, std::uint8_t depth, bool pinned);
  std::size_t place_of(RowId row) const;
  RowId sibling_beside(RowId row, bool down) const;

  const TimelineModel* model_ = nullptr;
  RowMetrics metrics_;
  std::vector<bool> folded_;
  std::vector<bool> hidden_;
  std::vector<bool> kept_;       ///< shown although filters say otherwise: something led there
  std::vector<RowId> sequence_;  ///< all rows, depth first, in the order chosen
  std::vector<RowId> pinned_;
  std::string filter_;
  std::optional<std::vector<bool>> only_;
  std::vector<Shown> shown_;
  std::vector<std::uint32_t> index_;  ///< by row: into shown_
  std::vector<bool> done_;            ///< while arranging: stands among the pinned
  std::vector<std::uint8_t> wanted_;
  std::int64_t height_ = 0;
  std::int64_t pinned_height_ = 0;
  std::size_t hidden_count_ = 0;
};

}  // namespace headway::gui
