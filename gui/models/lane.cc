// SPDX-License-Identifier: MIT
#include "gui/models/lane.h"

#include <algorithm>

#include "common/error.h"

namespace headway::gui {

void Lane::reserve(std::size_t events) {
  start_.reserve(events);
  end_.reserve(events);
  color_.reserve(events);
  rows_.reserve(events);
}

std::uint8_t Lane::palette_index(ColorRole color) {
  for (std::size_t i = 0; i < palette_.size(); ++i) {
    if (palette_[i] == color) return static_cast<std::uint8_t>(i);
  }
  palette_.push_back(color);
  return static_cast<std::uint8_t>(palette_.size() - 1);
}

void Lane::append(Interval when, std::uint32_t row, ColorRole color) {
  HEADWAY_INVARIANT(end_.empty() || when.begin >= end_.back());
  if (!first_event_.empty()) first_event_.push_back(static_cast<std::uint32_t>(rows_.size() + 1));
  start_.push_back(when.begin);
  end_.push_back(std::max(when.begin, when.end));
  color_.push_back(palette_index(color));
  rows_.push_back(row);
}

void Lane::append_overlapping(Interval when, std::uint32_t row, ColorRole color) {
  if (first_event_.empty()) {
    HEADWAY_INVARIANT(rows_.empty());
    first_event_.push_back(0);
  }
  if (end_.empty() || when.begin >= end_.back()) return append(when, row, color);
  HEADWAY_INVARIANT(when.begin >= start_.back());
  // The longest event of a heap gives it its colour; as they come by start, that is the one that
  // reaches furthest beyond what was there, near enough for a line that is drawn as merged.
  if (when.end > end_.back()) {
    if (when.end - end_.back() > end_.back() - start_.back()) color_.back() = palette_index(color);
    end_.back() = when.end;
  }
  rows_.push_back(row);
  first_event_.back() = static_cast<std::uint32_t>(rows_.size());
}

void Lane::finish() {
  const std::size_t colors = palette_.size();
  std::vector<std::int64_t> sums(colors, 0);
  for (std::uint32_t i = 0; i < entries(); ++i) {
    if (i % kBlock == 0) {
      block_start_.push_back(start_[i]);
      block_sums_.insert(block_sums_.end(), sums.begin(), sums.end());
    }
    sums[color_[i]] += (end_[i] - start_[i]).ns;
  }
}

std::span<const std::uint32_t> Lane::rows(std::uint32_t entry, std::uint32_t count) const {
  if (first_event_.empty()) return std::span(rows_).subspan(entry, count);
  return std::span(rows_).subspan(first_event_[entry],
                                  first_event_[entry + count] - first_event_[entry]);
}

std::uint32_t Lane::first_starting_at(TimeNs t, std::uint32_t from) const {
  const std::uint32_t count = static_cast<std::uint32_t>(entries());
  if (from >= count || start_[from] >= t) return from;
  // Gallop over the blocks' starts, a table small enough to stay in the cache, then search a block.
  std::size_t low = from / kBlock;
  std::size_t step = 1;
  while (low + step < block_start_.size() && block_start_[low + step] < t) {
    low += step;
    step *= 2;
  }
  std::size_t high = std::min(low + step, block_start_.size());
  auto block = std::partition_point(block_start_.begin() + static_cast<std::ptrdiff_t>(low) + 1,
                                    block_start_.begin() + static_cast<std::ptrdiff_t>(high),
                                    [&](TimeNs start) { return start < t; });
  // The block before begins before t, so the answer is in it or the start of this one.
  std::uint32_t index = static_cast<std::uint32_t>(block - block_start_.begin());
  std::uint32_t first = std::max(from, (index - 1) * kBlock);
  std::uint32_t last = std::min(count, index * kBlock);
  auto found = std::partition_point(start_.begin() + first, start_.begin() + last,
                                    [&](TimeNs start) { return start < t; });
  return static_cast<std::uint32_t>(found - start_.begin());
}

/// The first entry that touches `column` or anything right of it.
std::uint32_t Lane::first_in_column(const ColumnGrid& grid, int column) const {
  std::uint32_t entry = first_starting_at(grid.first_time(column), 0);
  // Only the one before can reach in from the left, as entries do not overlap.
  if (entry > 0 && grid.relative(end_[entry - 1]) > grid.edge(column)) --entry;
  return entry;
}

std::uint32_t Lane::count_events(std::uint32_t first, std::uint32_t last) const {
  return first_event_.empty() ? last - first : first_event_[last] - first_event_[first];
}

/// Adds the time per palette colour of the entries [first, last).
void Lane::add_sums(std::uint32_t first, std::uint32_t last, ColorSums& sums) const {
  auto scan = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i)
      sums[color_[i]] += static_cast<double>((end_[i] - start_[i]).ns);
  };
  std::uint32_t first_block = (first + kBlock - 1) / kBlock;
  std::uint32_t last_block = last / kBlock;
  if (first_block >= last_block) return scan(first, last);
  scan(first, first_block * kBlock);
  const std::size_t colors = palette_.size();
  for (std::size_t c = 0; c < colors; ++c)
    sums[c] += static_cast<double>(block_sums_[last_block * colors + c] -
                                   block_sums_[first_block * colors + c]);
  scan(last_block * kBlock, last);
}

/// Nanoseconds of `entry` in `column`.
double Lane::overlap(const ColumnGrid& grid, int column, std::uint32_t entry) const {
  double begin = std::max(grid.relative(start_[entry]), grid.edge(column));
  double end = std::min(grid.relative(end_[entry]), grid.edge(column + 1));
  return std::max(0.0, end - begin);
}

LaneItem Lane::merged(const ColumnGrid& grid, int column, std::uint32_t first,
                      std::uint32_t last) const {
  ColorSums sums;
  std::fill_n(sums.begin(), palette_.size(), 0.0);
  sums[color_[first]] += overlap(grid, column, first);
  if (last - first > 1) sums[color_[last - 1]] += overlap(grid, column, last - 1);
  if (last - first > 2) add_sums(first + 1, last - 1, sums);
  std::size_t best = color_[first];
  double covered = 0;
  for (std::size_t c = 0; c < palette_.size(); ++c) {
    covered += sums[c];
    if (sums[c] > sums[best]) best = c;
  }
  double share = std::clamp(covered / grid.ns_per_column(), 0.0, 1.0);
  return {column, 1, first, count_events(first, last), palette_[best],
          static_cast<std::uint8_t>(share * 255 + 0.5)};
}

LaneItem Lane::alone(const ColumnGrid& grid, int column, int stop, std::uint32_t entry) const {
  double share = 1;
  if (stop - column == 1)
    share = std::clamp(overlap(grid, column, entry) / grid.ns_per_column(), 0.0, 1.0);
  return {column, stop - column, entry, count_events(entry, entry + 1), palette_[color_[entry]],
          static_cast<std::uint8_t>(share * 255 + 0.5)};
}

void Lane::collect(const ColumnGrid& grid, int begin, int end,
                   std::vector<LaneItem>& items) const {
  begin = std::max(begin, 0);
  end = std::min(end, grid.width());
  if (begin >= end) return;
  const std::uint32_t count = static_cast<std::uint32_t>(entries());
  // Long enough that it has a column of its own wherever it is seen whole.
  auto has_own_column = [&](std::uint32_t entry) {
    return static_cast<double>((end_[entry] - start_[entry]).ns) >= 3 * grid.ns_per_column();
  };
  std::uint32_t i = first_in_column(grid, begin);
  if (i == count) return;
  int x = std::max(grid.column_of(start_[i]), begin);
  while (i < count && x < end) {
    // Entries [i, j) touch column x.
    std::uint32_t j = i + 1;
    if (j < count && start_[j] < grid.first_time(x + 1))
      j = first_starting_at(grid.first_time(x + 1), j);
    if (j - i == 1) {
      int last = std::clamp(grid.last_column_before(end_[i]), x, end - 1);
      int next = j < count ? grid.column_of(start_[j]) : grid.width();
      int stop = next == last ? last : last + 1;
      items.push_back(alone(grid, x, stop, i));
      x = stop == last ? last : next;
      if (stop != last) i = j;
      continue;
    }
    std::uint32_t rightmost = j - 1;
    if (j - i == 2 && has_own_column(i) && has_own_column(rightmost)) {
      if (overlap(grid, x, rightmost) > overlap(grid, x, i)) {
        i = rightmost;  // the column is drawn as part of it
        continue;
      }
      if (!items.empty() && items.back().entry == i && items.back().x + items.back().width == x) {
        items.back().width += 1;
        items.back().fill = 255;
      } else {
        items.push_back(alone(grid, x, x + 1, i));
      }
    } else {
      items.push_back(merged(grid, x, i, j));
    }
    if (grid.last_column_before(end_[rightmost]) > x) {
      i = rightmost;
      ++x;
    } else {
      i = j;
      if (j < count) x = grid.column_of(start_[j]);
    }
  }
}

std::pair<std::uint32_t, std::uint32_t> Lane::overlapping(Interval when) const {
  std::uint32_t first = first_starting_at(when.begin, 0);
  std::uint32_t last = first_starting_at(when.end, first);
  if (first > 0 && end_[first - 1] > when.begin) --first;
  return {first, std::max(first, last)};
}

std::optional<std::uint32_t> Lane::find(TimeNs start, std::uint32_t row) const {
  std::uint32_t entry = first_starting_at(start, 0);
  // In a heap of overlapping events the entry may begin earlier than the event.
  if (entry > 0 && !first_event_.empty()) --entry;
  for (; entry < entries() && start_[entry] <= start; ++entry) {
    std::span<const std::uint32_t> held = rows(entry);
    if (std::find(held.begin(), held.end(), row) != held.end()) return entry;
  }
  return std::nullopt;
}

void Lane::add_totals(Interval when, LaneTotals& totals) const {
  if (when.empty()) return;
  auto [first, last] = overlapping(when);
  if (first == last) return;
  totals.events += count_events(first, last);
  auto add = [&](std::size_t palette_index, std::int64_t ns) {
    totals.of_color[static_cast<std::size_t>(palette_[palette_index])] += DurationNs{ns};
    totals.busy += DurationNs{ns};
  };
  auto add_clipped = [&](std::uint32_t entry) {
    add(color_[entry], intersect(interval(entry), when).length().ns);
  };
  add_clipped(first);
  if (last - first > 1) add_clipped(last - 1);
  if (last - first > 2) {
    ColorSums sums;
    std::fill_n(sums.begin(), palette_.size(), 0.0);
    add_sums(first + 1, last - 1, sums);
    for (std::size_t c = 0; c < palette_.size(); ++c)
      add(c, static_cast<std::int64_t>(sums[c]));
  }
}

}  // namespace headway::gui
