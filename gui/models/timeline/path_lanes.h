// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/timeline/lane.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// The pieces of the critical path, each on the lane of the event that it ran on, so that a frame
/// draws them like events. Made on any thread, then immutable; about 30 bytes per piece.
class PathLanes {
 public:
  PathLanes() = default;
  explicit PathLanes(const TimelineModel& model);

  /// A lane of the timeline. Pieces without a known event have none.
  struct Where {
    RowId row;
    std::uint32_t lane = 0;
    bool operator==(const Where&) const = default;
  };

  bool empty() const { return pieces_ == 0; }
  /// The pieces on a lane; the row of an entry is its index into CriticalPath::pieces. Null: none.
  const Lane* lane(RowId row, std::uint32_t lane) const;
  std::optional<Where> where(std::uint32_t piece) const;
  /// Pieces that overlap `when`: [first, last).
  std::pair<std::uint32_t, std::uint32_t> overlapping(Interval when) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  const TimelineModel* model_ = nullptr;
  std::size_t pieces_ = 0;
  std::vector<std::uint32_t> first_lane_;  ///< by row: number of its first lane
  std::vector<std::uint32_t> line_of_;     ///< by number of the lane: index into lanes_
  std::vector<Lane> lanes_;
  std::vector<Where> where_;             ///< by index into lanes_
  std::vector<std::uint32_t> of_piece_;  ///< index into lanes_
};

/// The part of an event's own time that is on the critical path; zero: it is not on it. Checks at
/// most a few thousand pieces.
DurationNs time_on_path(const analyzer::CriticalPath& path, const trace::Trace& trace,
                        analyzer::EventRef event);

}  // namespace headway::gui
