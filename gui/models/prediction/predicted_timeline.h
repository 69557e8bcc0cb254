// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predicted_step.h"
#include "gui/models/opening/session.h"

namespace headway::analyzer {
struct Fix;
}

namespace headway::gui {

/// A session's timeline with rows of one step as fixes would have it, each beneath the recorded row
/// of the same stream or thread and beginning where the recorded step does. Rows that were there
/// keep their ids: predicted ones come behind all of them. Costs what the rows' names take, and the
/// step's events. Immutable.
struct PredictedTimeline {
  PredictedTimeline() = default;
  PredictedTimeline(const PredictedTimeline&) = delete;  // the model points into it
  PredictedTimeline& operator=(const PredictedTimeline&) = delete;

  std::shared_ptr<const Session> session;
  std::vector<const analyzer::Fix*> fixes;  ///< made together
  analyzer::PredictedStep step;
  TimelineModel model;

  /// Recorded events on a line that the fixes take away; null: none.
  const Lane* gone(RowId row, std::uint32_t lane) const;
  /// The recorded and the predicted step, with a little air.
  Interval view() const;
  /// The first predicted row that has something; none when nothing of the step has a row.
  RowId first_row() const;
  /// "Step 12 with “Do not wait for the device”: 2.00 ms instead of 2.40 ms, 400 µs less (16.7 %)".
  std::string sentence() const;
  /// "400 µs less".
  std::string gain_text() const;
  /// "“Do not wait for the device”"; of more than two their number.
  std::string fixes_text() const;

  struct Line {
    RowId row;
    std::uint32_t lane = 0;
    Lane gone;
  };
  std::vector<Line> lines;  ///< by row, then lane
};

/// The timeline of a step that was predicted for this session with these fixes.
std::shared_ptr<const PredictedTimeline> add_prediction(std::shared_ptr<const Session> session,
                                                        std::vector<const analyzer::Fix*> fixes,
                                                        analyzer::PredictedStep step);

/// The finding, of those with a prediction, whose fix gains most; -1: none.
int best_predicted_finding(const analyzer::Analysis& analysis);

}  // namespace headway::gui
