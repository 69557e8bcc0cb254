// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "gui/models/search/search.h"
#include "gui/models/timeline/bit_rank.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Marks the hits of a search on the timeline, so that a frame's cost depends on its pixels only:
/// whether any event of a drawn item is a hit takes one subtraction. Made on any thread, then
/// immutable; two bits per event.
class HitMarks {
 public:
  /// Number of parts of the whole trace in which the overview counts hits.
  static constexpr std::size_t kParts = 2048;

  /// Has no marks when `*cancelled` becomes true.
  HitMarks(const TimelineModel& model, const Search& search,
           const std::atomic<bool>* cancelled = nullptr);

  /// True when one of the item's events is a hit.
  bool any(RowId row, std::uint32_t lane, const LaneItem& item) const;
  std::size_t in_row(RowId row) const;
  /// By row; includes rows that only repeat what others show.
  const std::vector<bool>& rows() const { return has_hits_; }
  /// Number of hits that begin in each part of the trace's bounds.
  std::span<const std::uint32_t> parts() const { return parts_; }

 private:
  const TimelineModel* model_;
  std::vector<std::uint32_t> first_lane_;  ///< by row
  std::vector<BitRank> lanes_;             ///< of all rows, by event of the lane
  std::vector<bool> has_hits_;
  std::vector<std::uint32_t> parts_;
};

}  // namespace headway::gui
