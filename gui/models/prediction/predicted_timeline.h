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

/// A session's timeline with added rows that show one step as predicted with some fixes. Each added
/// row is below the recorded row of the same stream or thread and starts where the recorded step
/// starts. Recorded rows keep their ids; predicted rows have higher ids. Memory: the names of the
/// rows and the events of the step. Immutable.
struct PredictedTimeline {
  PredictedTimeline() = default;
  PredictedTimeline(const PredictedTimeline&) = delete;  // the model points into it
  PredictedTimeline& operator=(const PredictedTimeline&) = delete;

  std::shared_ptr<const Session> session;
  std::vector<const analyzer::Fix*> fixes;  ///< the fixes that are applied together
  analyzer::PredictedStep step;
  TimelineModel model;

  /// The recorded events on a lane that the fixes remove; null: none.
  const Lane* gone(RowId row, std::uint32_t lane) const;
  /// The time range of the recorded and the predicted step, with a margin.
  Interval view() const;
  /// The first predicted row that is not empty; none when no part of the step has a row.
  RowId first_row() const;
  /// "Step 12 with “Do not wait for the device”: 2.00 ms instead of 2.40 ms, 400 µs less (16.7 %)".
  std::string sentence() const;
  /// "400 µs less".
  std::string gain_text() const;
  /// "“Do not wait for the device”"; for more than two fixes their number.
  std::string fixes_text() const;

  struct Line {
    RowId row;
    std::uint32_t lane = 0;
    Lane gone;
  };
  std::vector<Line> lines;  ///< by row, then lane
};

/// Adds a step that was predicted for this session with these fixes to its timeline.
std::shared_ptr<const PredictedTimeline> add_prediction(std::shared_ptr<const Session> session,
                                                        std::vector<const analyzer::Fix*> fixes,
                                                        analyzer::PredictedStep step);

/// The index of the finding whose predicted fix gains most; -1: no finding has a prediction.
int best_predicted_finding(const analyzer::Analysis& analysis);

}  // namespace headway::gui
