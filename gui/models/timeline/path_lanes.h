// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/timeline/lane.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// The pieces of the critical path, each on the line of the event that it ran on, so that a frame
/// draws them as it draws events. Made on any thread, immutable after that; about 30 bytes a piece.
class PathLanes {
 public:
  PathLanes() = default;
  explicit PathLanes(const TimelineModel& model);

  /// A line of the timeline. Pieces of which no event is known have none.
  struct Where {
    RowId row;
    std::uint32_t lane = 0;
    bool operator==(const Where&) const = default;
  };

  bool empty() const { return pieces_ == 0; }
  /// The pieces on a line, their index into CriticalPath::pieces as row; null: none.
  const Lane* lane(RowId row, std::uint32_t lane) const;
  std::optional<Where> where(std::uint32_t piece) const;
  /// Pieces that overlap `when`: [first, last).
  std::pair<std::uint32_t, std::uint32_t> overlapping(Interval when) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  const TimelineModel* model_ = nullptr;
  std::size_t pieces_ = 0;
  std::vector<std::uint32_t> first_lane_;  ///< by row: number of its first line
  std::vector<std::uint32_t> line_of_;     ///< by number of the line: index into lanes_
  std::vector<Lane> lanes_;
  std::vector<Where> where_;             ///< by index into lanes_
  std::vector<std::uint32_t> of_piece_;  ///< index into lanes_
};

/// How much of an event's own time is on the critical path; zero: it is not on it. At most a few
/// thousand pieces are looked at.
DurationNs time_on_path(const analyzer::CriticalPath& path, const trace::Trace& trace,
                        analyzer::EventRef event);

}  // namespace headway::gui
