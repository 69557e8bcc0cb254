// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace headway::trace::load_detail {

struct Context;

/// The event tables to which rows of other tables refer by rowid. The first four are the values of
/// opTable.
enum class RowTable : std::uint8_t {
  kKernel = 1,
  kMemcpy = 2,
  kMemset = 3,
  kOwnOp = 4,
  kRuntime = 5,
  kRange = 6,
  kCount_ = 7,
};

/// Maps wanted rows of a table to events. Most files want no rows, so that events cost nothing.
struct RowMap {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::int64_t> rows;    ///< wanted rowids, ascending
  std::vector<std::uint32_t> index;  ///< of the event in the Trace; final after sorting

  /// The event of a row; kNone when it was not read.
  std::uint32_t find(std::int64_t row) const;
};

using RowMaps = std::array<RowMap, static_cast<std::size_t>(RowTable::kCount_)>;

/// Notes the wanted rows while a part of a table is read in rowid order.
class RowTracker {
 public:
  /// `event`: index of the row within the part.
  void saw(const RowMap& map, std::int64_t row, std::size_t event);
  /// Moves the noted rows into the map; `offset`: number of events before this part.
  void finish(RowMap& map, std::size_t offset) const;

 private:
  std::vector<std::pair<std::size_t, std::uint32_t>> seen_;  ///< position in the map, event
  std::size_t next_ = 0;
  bool begun_ = false;
};

/// Updates the map after sorting by `order` (order[new] = old; empty: nothing moved).
void follow_order(RowMap& map, const std::vector<std::uint32_t>& order);

/// Reads to which rows HEADWAY_{COLLECTIVE,DEVICE_OP_DETAIL,CALL_DETAIL} refer; before the events.
void want_rows(Context& context);
/// Applies those tables to the events; after link().
void load_details(Context& context);

}  // namespace headway::trace::load_detail
