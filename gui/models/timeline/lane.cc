// SPDX-License-Identifier: MIT
#include "gui/models/timeline/lane.h"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace headway::gui {
namespace {

/// With a whole large trace in view, each column accesses another place in memory. Pages of 2 MB
/// let the TLB hold all of their addresses.
void use_large_pages(void* data, std::size_t bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  // Only a hint: without it drawing works but is slower.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Moves the values to memory of the exact size, on large pages.
template <class T>
void settle(std::vector<T>& values) {
  std::vector<T> settled;
  settled.reserve(values.size());
  use_large_pages(settled.data(), values.size() * sizeof(T));
  settled.assign(values.begin(), values.end());
  values = std::move(settled);
}

}  // namespace

void Lane::reserve(std::size_t events) {
  data_->blocks.reserve((events + kBlock - 1) / kBlock);
  data_->block_start.reserve(data_->blocks.capacity());
  data_->rows.reserve(events);
}

std::int64_t Lane::long_length(std::uint32_t entry) const {
  auto found = std::lower_bound(data_->long_lengths.begin(), data_->long_lengths.end(),
                                std::pair(entry, INT64_MIN));
  return found->second;
}

TimeNs Lane::long_start(std::uint32_t entry) const {
  auto found = std::lower_bound(data_->long_starts.begin(), data_->long_starts.end(),
                                std::pair(entry, TimeNs::min()));
  return found->second;
}

/// Only for the last entry.
void Lane::set_length(std::uint32_t entry, std::int64_t length) {
  std::uint32_t& stored = data_->blocks[entry / kBlock].length[entry % kBlock];
  if (length < kLong) {
    stored = static_cast<std::uint32_t>(length);
    return;
  }
  if (stored == kLong && !data_->long_lengths.empty() && data_->long_lengths.back().first == entry)
    data_->long_lengths.pop_back();
  stored = kLong;
  data_->long_lengths.emplace_back(entry, length);
}

std::uint8_t Lane::palette_index(ColorRole color) {
  for (std::size_t i = 0; i < data_->palette.size(); ++i) {
    if (data_->palette[i] == color) return static_cast<std::uint8_t>(i);
  }
  data_->palette.push_back(color);
  return static_cast<std::uint8_t>(data_->palette.size() - 1);
}

void Lane::append(Interval when, std::uint32_t row, ColorRole color) {
  const std::uint32_t entry = static_cast<std::uint32_t>(entries());
  HEADWAY_INVARIANT(entry == 0 || when.begin >= end_of(entry - 1));
  if (!data_->first_event.empty())
    data_->first_event.push_back(static_cast<std::uint32_t>(data_->rows.size() + 1));
  if (entry % kBlock == 0) {
    data_->blocks.emplace_back().start.fill(kLong);
    data_->block_start.push_back(when.begin);
  }
  ++data_->entries;
  const std::int64_t start = (when.begin - data_->block_start.back()).ns;
  if (start < kLong) {
    data_->blocks.back().start[entry % kBlock] = static_cast<std::uint32_t>(start);
  } else {
    data_->long_starts.emplace_back(entry, when.begin);
  }
  data_->blocks.back().length[entry % kBlock] = 0;
  data_->blocks.back().color[entry % kBlock] = palette_index(color);
  set_length(entry, when.length().ns);
  data_->rows.push_back(row);
}

void Lane::append_overlapping(Interval when, std::uint32_t row, ColorRole color) {
  if (entries() == 0) return append(when, row, color);
  const std::uint32_t last = static_cast<std::uint32_t>(entries() - 1);
  if (when.begin >= end_of(last)) return append(when, row, color);
  HEADWAY_INVARIANT(when.begin >= start_of(last));
  if (data_->first_event.empty()) {
    // Until now every entry was a single event.
    data_->first_event.resize(entries() + 1);
    std::iota(data_->first_event.begin(), data_->first_event.end(), 0u);
  }
  // The longest event of a merged entry determines its colour. Events come by start, so the one
  // that reaches furthest beyond the entry is taken: accurate enough for an item drawn as merged.
  if (when.end > end_of(last)) {
    if ((when.end - end_of(last)).ns > length_of(last))
      data_->blocks.back().color[last % kBlock] = palette_index(color);
    set_length(last, (when.end - start_of(last)).ns);
  }
  data_->rows.push_back(row);
  data_->first_event.back() = static_cast<std::uint32_t>(data_->rows.size());
}

void Lane::finish() {
  const std::size_t colors = data_->palette.size();
  settle(data_->blocks);
  settle(data_->block_start);
  data_->block_sums.reserve(data_->blocks.size() * colors);
  use_large_pages(data_->block_sums.data(), data_->block_sums.capacity() * sizeof(std::int64_t));
  std::vector<std::int64_t> sums(colors, 0);
  for (std::uint32_t i = 0; i < entries(); ++i) {
    if (i % kBlock == 0)
      data_->block_sums.insert(data_->block_sums.end(), sums.begin(), sums.end());
    sums[color_of(i)] += length_of(i);
  }
}

std::span<const std::uint32_t> Lane::rows(std::uint32_t entry, std::uint32_t count) const {
  if (data_->first_event.empty()) return std::span(data_->rows).subspan(entry, count);
  return std::span(data_->rows)
      .subspan(data_->first_event[entry],
               data_->first_event[entry + count] - data_->first_event[entry]);
}

std::uint32_t Lane::block_before(TimeNs t, std::uint32_t from) const {
  // Galloping search, then binary search, in a table small enough for the cache.
  const std::vector<TimeNs>& starts = data_->block_start;
  std::size_t low = from;
  std::size_t step = 1;
  for (; low + step < starts.size() && starts[low + step] < t; step *= 2) low += step;
  std::size_t high = std::min(low + step, starts.size());
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (starts[middle] < t ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

/// The first entry that begins at `t` or later; `block` is the last block that begins before `t`.
std::uint32_t Lane::first_in_block(TimeNs t, std::uint32_t block) const {
  const std::int64_t offset = (t - data_->block_start[block]).ns;
  std::uint32_t found = block * kBlock;
  if (offset > kLong) {
    const std::uint32_t end = std::min(found + kBlock, static_cast<std::uint32_t>(entries()));
    while (found < end && start_of(found) < t) ++found;
    return found;
  }
  // Counting all entries is faster than a search, because it has no unpredictable branches.
  const auto before = static_cast<std::uint32_t>(offset);
  for (const std::uint32_t start : data_->blocks[block].start) found += start < before ? 1 : 0;
  return found;
}

std::uint32_t Lane::first_starting_at(TimeNs t, std::uint32_t from) const {
  if (from >= entries() || start_of(from) >= t) return from;
  return first_in_block(t, block_before(t, from / kBlock));
}

/// The first entry that touches `column` or any column to its right.
std::uint32_t Lane::first_in_column(const ColumnGrid& grid, int column) const {
  std::uint32_t entry = first_starting_at(grid.first_time(column), 0);
  // Entries do not overlap, so only the entry before can reach in from the left.
  if (entry > 0 && grid.relative(end_of(entry - 1)) > grid.edge(column)) --entry;
  return entry;
}

std::uint32_t Lane::count_events(std::uint32_t first, std::uint32_t last) const {
  return data_->first_event.empty() ? last - first
                                    : data_->first_event[last] - data_->first_event[first];
}

/// The time per palette colour of all entries before `entry`.
void Lane::sums_before(std::uint32_t entry, ColorSums& sums) const {
  const std::size_t colors = data_->palette.size();
  const std::size_t index = std::min<std::size_t>(entry / kBlock, data_->blocks.size() - 1);
  const Block& block = data_->blocks[index];
  const std::uint32_t first = static_cast<std::uint32_t>(index) * kBlock;
  const std::uint32_t count = entry - first;
  // Sums from the nearer end of the block.
  const bool from_end = count > kBlock / 2 && index + 1 < data_->blocks.size();
  std::copy_n(data_->block_sums.begin() +
                  static_cast<std::ptrdiff_t>((from_end ? index + 1 : index) * colors),
              colors, sums.begin());
  if (!data_->long_lengths.empty()) {
    for (std::uint32_t i = from_end ? count : 0; i < (from_end ? kBlock : count); ++i)
      sums[block.color[i]] += from_end ? -length_of(first + i) : length_of(first + i);
  } else if (from_end) {
    for (std::uint32_t i = count; i < kBlock; ++i) sums[block.color[i]] -= block.length[i];
  } else {
    for (std::uint32_t i = 0; i < count; ++i) sums[block.color[i]] += block.length[i];
  }
}

/// The part of `entry` in `column`, in nanoseconds.
double Lane::overlap(const ColumnGrid& grid, int column, std::uint32_t entry) const {
  double begin = std::max(grid.relative(start_of(entry)), grid.edge(column));
  double end = std::min(grid.relative(end_of(entry)), grid.edge(column + 1));
  return std::max(0.0, end - begin);
}

/// `left` may hold the sums left of the column, as left in `right` by the previous column.
LaneItem Lane::merged(const ColumnGrid& grid, int column, std::uint32_t first, std::uint32_t last,
                      SumsAt& left, SumsAt& right) const {
  const std::size_t colors = data_->palette.size();
  std::array<double, kColorRoleCount> time;
  if (last - first <= kFew) {
    std::fill_n(time.begin(), colors, 0.0);
    for (std::uint32_t i = first; i < last; ++i) time[color_of(i)] += overlap(grid, column, i);
    return merged(grid, column, first, last, {time.data(), colors});
  }
  // If the first entry reaches in from the left, the column's edge lies behind its start.
  const double cut = std::max(0.0, grid.edge(column) - grid.relative(start_of(first)));
  const std::uint32_t begin = cut > 0 ? first + 1 : first;
  if (left.entry != begin) sums_before(begin, left.sums);
  right.entry = last;
  sums_before(last, right.sums);
  for (std::size_t c = 0; c < colors; ++c)
    time[c] = static_cast<double>(right.sums[c] - left.sums[c]);
  if (cut > 0) time[color_of(first)] += static_cast<double>(length_of(first)) - cut;
  time[color_of(last - 1)] -=
      std::max(0.0, grid.relative(end_of(last - 1)) - grid.edge(column + 1));
  return merged(grid, column, first, last, {time.data(), colors});
}

LaneItem Lane::merged(const ColumnGrid& grid, int column, std::uint32_t first, std::uint32_t last,
                      std::span<const double> time) const {
  std::size_t best = color_of(first);
  double covered = 0;
  for (std::size_t c = 0; c < time.size(); ++c) {
    covered += time[c];
    if (time[c] > time[best]) best = c;
  }
  double share = std::clamp(covered / grid.ns_per_column(), 0.0, 1.0);
  return {column,
          1,
          first,
          count_events(first, last),
          data_->palette[best],
          static_cast<std::uint8_t>(share * 255 + 0.5)};
}

/// In a view of ten million events each column is a cache miss, so the data of the next columns is
/// prefetched while this one is summed up.
void Lane::prefetch(std::uint32_t block) const {
  __builtin_prefetch(&data_->block_sums[block * data_->palette.size()]);
  const char* data = reinterpret_cast<const char*>(&data_->blocks[block]);
  for (std::size_t line = 0; line < sizeof(Block); line += 64) __builtin_prefetch(data + line);
}

LaneItem Lane::alone(const ColumnGrid& grid, int column, int stop, std::uint32_t entry) const {
  double share = 1;
  if (stop - column == 1)
    share = std::clamp(overlap(grid, column, entry) / grid.ns_per_column(), 0.0, 1.0);
  return {column,
          stop - column,
          entry,
          count_events(entry, entry + 1),
          data_->palette[color_of(entry)],
          static_cast<std::uint8_t>(share * 255 + 0.5)};
}

void Lane::collect(const ColumnGrid& grid, int begin, int end, std::vector<LaneItem>& items) const {
  begin = std::max(begin, 0);
  end = std::min(end, grid.width());
  if (begin >= end) return;
  const std::uint32_t count = static_cast<std::uint32_t>(entries());
  // True if the entry is long enough to have a column of its own wherever it is fully visible.
  auto has_own_column = [&](std::uint32_t entry) {
    return static_cast<double>(length_of(entry)) >= 3 * grid.ns_per_column();
  };
  SumsAt sums[2];
  std::uint32_t ahead = 0;  // the block that holds the end of a column further right
  int turn = 0;
  std::uint32_t i = first_in_column(grid, begin);
  if (i == count) return;
  int x = std::max(grid.column_of(start_of(i)), begin);
  while (i < count && x < end) {
    // Entries [i, j) touch column x.
    std::uint32_t j = i + 1;
    if (j < count && start_of(j) < grid.first_time(x + 1))
      j = first_starting_at(grid.first_time(x + 1), j);
    if (j - i == 1) {
      int last = std::clamp(grid.last_column_before(end_of(i)), x, end - 1);
      int next = j < count ? grid.column_of(start_of(j)) : grid.width();
      int stop = next == last ? last : last + 1;
      items.push_back(alone(grid, x, stop, i));
      x = stop == last ? last : next;
      if (stop != last) i = j;
      continue;
    }
    std::uint32_t rightmost = j - 1;
    if (j - i == 2 && has_own_column(i) && has_own_column(rightmost)) {
      if (overlap(grid, x, rightmost) > overlap(grid, x, i)) {
        i = rightmost;  // the column is drawn as part of that entry
        continue;
      }
      if (!items.empty() && items.back().entry == i && items.back().x + items.back().width == x) {
        items.back().width += 1;
        items.back().fill = 255;
      } else {
        items.push_back(alone(grid, x, x + 1, i));
      }
    } else {
      if (j - i > kFew) {
        const int column = std::min(x + kAhead, grid.width() - 1);
        ahead = block_before(grid.first_time(column + 1), std::max(ahead, j / kBlock));
        prefetch(ahead);
      }
      items.push_back(merged(grid, x, i, j, sums[turn], sums[1 - turn]));
      turn = 1 - turn;
    }
    if (grid.last_column_before(end_of(rightmost)) > x) {
      i = rightmost;
      ++x;
    } else {
      i = j;
      if (j < count) x = grid.column_of(start_of(j));
    }
  }
}

void Lane::collect_moved(const ColumnGrid& grid, int end, std::span<const LaneItem> before, int by,
                         std::vector<LaneItem>& items) const {
  // Items at an edge of either view may be cut there; items between the edges are unchanged.
  auto stays = [&](const LaneItem& item) {
    return item.x > std::max(0, by) && item.x + item.width < std::min(end, end + by);
  };
  auto first = std::find_if(before.begin(), before.end(), stays);
  auto last = std::find_if_not(first, before.end(), stays);
  if (first == last) return collect(grid, 0, end, items);
  collect(grid, 0, first->x - by, items);
  for (auto item = first; item != last; ++item) {
    items.push_back(*item);
    items.back().x -= by;
  }
  collect(grid, items.back().x + items.back().width, end, items);
}

std::pair<std::uint32_t, std::uint32_t> Lane::overlapping(Interval when) const {
  std::uint32_t first = first_starting_at(when.begin, 0);
  std::uint32_t last = first_starting_at(when.end, first);
  if (first > 0 && end_of(first - 1) > when.begin) --first;
  return {first, std::max(first, last)};
}

std::optional<std::uint32_t> Lane::find(TimeNs start, std::uint32_t row) const {
  std::uint32_t entry = first_starting_at(start, 0);
  // If overlapping events are merged, the entry may begin earlier than the event.
  if (entry > 0 && !data_->first_event.empty()) --entry;
  for (; entry < entries() && start_of(entry) <= start; ++entry) {
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
    totals.of_color[static_cast<std::size_t>(data_->palette[palette_index])] += DurationNs{ns};
    totals.busy += DurationNs{ns};
  };
  auto add_clipped = [&](std::uint32_t entry) {
    add(color_of(entry), intersect(interval(entry), when).length().ns);
  };
  add_clipped(first);
  if (last - first > 1) add_clipped(last - 1);
  if (last - first > 2) {
    ColorSums before;
    ColorSums after;
    sums_before(first + 1, before);
    sums_before(last - 1, after);
    for (std::size_t c = 0; c < data_->palette.size(); ++c) add(c, after[c] - before[c]);
  }
}

}  // namespace headway::gui
