// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace headway::trace::load_detail {

struct Context;

/// The event tables that rows of other tables refer to by rowid. The first four are the values of
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

/// Which event a wanted row of a table has become: most files want none, so that no event pays for
/// it.
struct RowMap {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::int64_t> rows;    ///< wanted, ascending
  std::vector<std::uint32_t> index;  ///< of the event in the Trace, once it is sorted

  /// The event of a row; kNone when it was not read.
  std::uint32_t find(std::int64_t row) const;
};

using RowMaps = std::array<RowMap, static_cast<std::size_t>(RowTable::kCount_)>;

/// Notes, while a part of a table is read in rowid order, which of its rows are wanted.
class RowTracker {
 public:
  /// `event`: index of the row within the part.
  void saw(const RowMap& map, std::int64_t row, std::size_t event);
  /// Moves what was seen into the map; `offset`: events before this part.
  void finish(RowMap& map, std::size_t offset) const;

 private:
  std::vector<std::pair<std::size_t, std::uint32_t>> seen_;  ///< position in the map, event
  std::size_t next_ = 0;
  bool begun_ = false;
};

/// After sorting by `order` (order[new] = old; empty: nothing moved).
void follow_order(RowMap& map, const std::vector<std::uint32_t>& order);

/// Reads which rows HEADWAY_{COLLECTIVE,DEVICE_OP_DETAIL,CALL_DETAIL} refer to; before the events.
void want_rows(Context& context);
/// Applies those tables; after link().
void load_details(Context& context);

}  // namespace headway::trace::load_detail
