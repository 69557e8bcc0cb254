// SPDX-License-Identifier: MIT
#include "gui/models/timeline/path_lanes.h"

#include <algorithm>

namespace headway::gui {

using analyzer::EventRef;
using analyzer::PathPiece;

namespace {

/// The lane that shows the time of a piece: that of its event, else the calls of its thread.
std::optional<Place> place_of(const TimelineModel& model, const PathPiece& piece) {
  if (piece.event.kind != EventRef::Kind::kNone) return model.find(Target::of(piece.event));
  if (!piece.thread.valid() || piece.thread.value >= model.row_of_thread.size())
    return std::nullopt;
  RowId row = model.row_of_thread[piece.thread.value];
  if (!row.valid()) row = model.row_of_calls[piece.thread.value];
  if (!row.valid()) return std::nullopt;
  return Place{row, 0, 0};
}

std::size_t first_ending_after(const std::vector<PathPiece>& pieces, TimeNs t) {
  auto found = std::partition_point(pieces.begin(), pieces.end(), [&](const PathPiece& piece) {
    return piece.interval.end <= t;
  });
  return static_cast<std::size_t>(found - pieces.begin());
}

}  // namespace

PathLanes::PathLanes(const TimelineModel& model) : model_(&model) {
  const std::vector<PathPiece>& pieces = model.analysis->critical_path.pieces;
  pieces_ = pieces.size();
  std::uint32_t lines = 0;
  for (const Row& row : model.rows) {
    first_lane_.push_back(lines);
    lines += static_cast<std::uint32_t>(row.lanes.size());
  }
  line_of_.assign(lines, kNone);
  of_piece_.assign(pieces_, kNone);
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    std::optional<Place> place = place_of(model, pieces[i]);
    if (!place || !place->row.valid()) continue;
    std::uint32_t& line = line_of_[first_lane_[place->row.value] + place->lane];
    if (line == kNone) {
      line = static_cast<std::uint32_t>(lanes_.size());
      lanes_.emplace_back();
      where_.push_back({place->row, place->lane});
    }
    // Pieces do not overlap in time, so those of a lane do not either.
    lanes_[line].append(pieces[i].interval, i, ColorRole::kMark);
    of_piece_[i] = line;
  }
  for (Lane& lane : lanes_) lane.finish();
}

const Lane* PathLanes::lane(RowId row, std::uint32_t lane) const {
  if (row.value >= first_lane_.size()) return nullptr;
  const std::size_t line = first_lane_[row.value] + std::size_t{lane};
  if (line >= line_of_.size() || line_of_[line] == kNone) return nullptr;
  return &lanes_[line_of_[line]];
}

std::optional<PathLanes::Where> PathLanes::where(std::uint32_t piece) const {
  if (of_piece_[piece] == kNone) return std::nullopt;
  return where_[of_piece_[piece]];
}

std::pair<std::uint32_t, std::uint32_t> PathLanes::overlapping(Interval when) const {
  if (!model_) return {0, 0};
  const std::vector<PathPiece>& pieces = model_->analysis->critical_path.pieces;
  std::size_t first = first_ending_after(pieces, when.begin);
  auto last =
      std::partition_point(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end(),
                           [&](const PathPiece& piece) { return piece.interval.begin < when.end; });
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - pieces.begin())};
}

DurationNs time_on_path(const analyzer::CriticalPath& path, const trace::Trace& trace,
                        EventRef event) {
  constexpr std::size_t kMostLookedAt = 4096;
  const Interval when = analyzer::interval_of(trace, event);
  DurationNs total;
  std::size_t first = first_ending_after(path.pieces, when.begin);
  for (std::size_t i = first; i < std::min(path.pieces.size(), first + kMostLookedAt); ++i) {
    if (path.pieces[i].interval.begin >= when.end) break;
    if (path.pieces[i].event == event) total += intersect(path.pieces[i].interval, when).length();
  }
  return total;
}

}  // namespace headway::gui
