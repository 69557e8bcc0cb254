// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/time.h"
#include "gui/models/timeline/color_role.h"
#include "gui/models/timeline/time_mapping.h"

namespace headway::gui {

/// One item to draw on a lane, in whole pixel columns.
struct LaneItem {
  std::int32_t x = 0;
  std::int32_t width = 1;
  std::uint32_t entry = 0;             ///< the lane's entry; if merged: the first one
  std::uint32_t count = 1;             ///< events drawn here; more than 1: merged
  ColorRole color = ColorRole::kMark;  ///< of the event; if merged: of most of the time
  std::uint8_t fill = 255;             ///< share of the columns' time that events cover; 255 is all

  bool operator==(const LaneItem&) const = default;
};

/// Totals of a time range of a lane.
struct LaneTotals {
  std::int64_t events = 0;
  DurationNs busy;
  std::array<DurationNs, kColorRoleCount> of_color{};
};

/// One line of the timeline: events that do not overlap, sorted by time, with an index that makes
/// the cost of drawing depend on the number of pixels only. Immutable after `finish`. About 15
/// bytes per event. Copies share their data, so a lane that outlives its first timeline costs
/// nothing.
///
/// Drawing is exact: a column with one event shows that event; a column shared by several shows one
/// merged item with their number, the colour with most of the column's time, and the share of the
/// column that they cover. Every event that touches the view is counted in at least one item, at
/// any zoom. (Two neighbours that each own other columns do not merge in the column where they
/// meet: the one with more of it gets it.)
class Lane {
 public:
  void reserve(std::size_t events);
  /// Adds an event that begins at or after the end of the last one. `row` identifies the event for
  /// the caller: an index into a table of the trace.
  void append(Interval when, std::uint32_t row, ColorRole color);
  /// Adds an event that may overlap earlier ones (but does not begin before the last): overlapping
  /// events become one entry, which is drawn as merged.
  void append_overlapping(Interval when, std::uint32_t row, ColorRole color);
  void finish();

  /// Whether this is the same lane, or a copy of it.
  bool is(const Lane& other) const { return data_ == other.data_; }
  std::size_t entries() const { return data_->entries; }
  std::size_t events() const { return data_->rows.size(); }
  Interval interval(std::uint32_t entry) const { return {start_of(entry), end_of(entry)}; }
  ColorRole color(std::uint32_t entry) const { return data_->palette[color_of(entry)]; }
  /// Index of the entry's first event among all events of the lane.
  std::uint32_t first_event(std::uint32_t entry) const {
    return data_->first_event.empty() ? entry : data_->first_event[entry];
  }
  /// The rows of the events of `count` entries from `entry` on.
  std::span<const std::uint32_t> rows(std::uint32_t entry, std::uint32_t count = 1) const;
  /// The entry that holds `row`, which begins at `start`.
  std::optional<std::uint32_t> find(TimeNs start, std::uint32_t row) const;
  /// Entries that overlap `when`, [first, last). A zero-length entry overlaps when it lies inside.
  std::pair<std::uint32_t, std::uint32_t> overlapping(Interval when) const;

  /// Appends the items of the columns [begin, end) of the grid, from left to right.
  void collect(const ColumnGrid& grid, int begin, int end, std::vector<LaneItem>& items) const;
  /// The same for the columns [0, end), reusing `before`, the items of [0, end) of a grid whose
  /// column `by` is column 0 of this grid. Only columns that come into view are looked up.
  void collect_moved(const ColumnGrid& grid, int end, std::span<const LaneItem> before, int by,
                     std::vector<LaneItem>& items) const;
  void add_totals(Interval when, LaneTotals& totals) const;

 private:
  // Entries per block of the index. Small, because a merged column scans up to two partial blocks;
  // large enough that the sums cost less than a byte per entry and colour.
  static constexpr std::uint32_t kBlock = 32;
  /// Up to this many entries are scanned one by one, which is cheaper than using the block sums.
  static constexpr std::uint32_t kFew = 8;
  /// Memory is prefetched this many columns ahead.
  static constexpr int kAhead = 8;
  /// Data that drawing reads of neighbouring entries lies together: in a view of ten million
  /// events, each column then costs one cache miss and one TLB miss. The alignment puts half of the
  /// lengths into one cache line, and all colours into one.
  struct alignas(64) Block {
    /// in ns after block_start; kLong: see long_starts, or after the last entry
    std::array<std::uint32_t, kBlock> start;
    std::array<std::uint32_t, kBlock> length;  ///< in ns; kLong: see long_lengths
    std::array<std::uint8_t, kBlock> color;    ///< index into data_->palette
  };
  using ColorSums = std::array<std::int64_t, kColorRoleCount>;
  /// Sums before an entry. Two of these alternate, because neighbouring columns share one.
  struct SumsAt {
    std::uint32_t entry = 0xffffffff;
    ColorSums sums;
  };

  static constexpr std::uint32_t kLong = 0xffffffff;

  std::uint8_t palette_index(ColorRole color);
  TimeNs start_of(std::uint32_t entry) const {
    const std::uint32_t start = data_->blocks[entry / kBlock].start[entry % kBlock];
    return start != kLong ? TimeNs{data_->block_start[entry / kBlock].ns + start}
                          : long_start(entry);
  }
  TimeNs long_start(std::uint32_t entry) const;
  std::uint8_t color_of(std::uint32_t entry) const {
    return data_->blocks[entry / kBlock].color[entry % kBlock];
  }
  std::int64_t length_of(std::uint32_t entry) const {
    std::uint32_t length = data_->blocks[entry / kBlock].length[entry % kBlock];
    return length != kLong ? length : long_length(entry);
  }
  std::int64_t long_length(std::uint32_t entry) const;
  void set_length(std::uint32_t entry, std::int64_t length);
  TimeNs end_of(std::uint32_t entry) const { return {start_of(entry).ns + length_of(entry)}; }
  std::uint32_t first_starting_at(TimeNs t, std::uint32_t from) const;
  /// The last block that begins before `t`. Block `from` begins before `t`.
  std::uint32_t block_before(TimeNs t, std::uint32_t from) const;
  std::uint32_t first_in_block(TimeNs t, std::uint32_t block) const;
  std::uint32_t first_in_column(const ColumnGrid& grid, int column) const;
  std::uint32_t count_events(std::uint32_t first, std::uint32_t last) const;
  void sums_before(std::uint32_t entry, ColorSums& sums) const;
  double overlap(const ColumnGrid& grid, int column, std::uint32_t entry) const;
  LaneItem merged(const ColumnGrid& grid, int column, std::uint32_t first, std::uint32_t last,
                  SumsAt& left, SumsAt& right) const;
  LaneItem merged(const ColumnGrid& grid, int column, std::uint32_t first, std::uint32_t last,
                  std::span<const double> time) const;
  void prefetch(std::uint32_t block) const;
  LaneItem alone(const ColumnGrid& grid, int column, int stop, std::uint32_t entry) const;

  /// The data of a lane; shared by its copies.
  struct Data {
    std::size_t entries = 0;
    std::vector<Block> blocks;
    std::vector<std::uint32_t> rows;         ///< per event
    std::vector<std::uint32_t> first_event;  ///< per entry, plus one; empty: one event each
    std::vector<std::pair<std::uint32_t, std::int64_t>> long_lengths;  ///< over 4 s, by entry
    std::vector<std::pair<std::uint32_t, TimeNs>>
        long_starts;  ///< over 4 s into the block, by entry
    std::vector<ColorRole> palette;
    std::vector<TimeNs> block_start;
    std::vector<std::int64_t> block_sums;  ///< per block and colour: time of all entries before it
  };
  std::shared_ptr<Data> data_ = std::make_shared<Data>();
};

}  // namespace headway::gui
