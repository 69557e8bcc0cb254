// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "analyzer/analysis.h"
#include "gui/models/step_chart.h"
#include "gui/models/summary.h"
#include "gui/models/timeline_model.h"
#include "trace/trace.h"

namespace headway::gui {

/// An opened trace with everything the pages show, all made while loading. Immutable; pages share
/// it.
struct Session {
  trace::Trace trace;
  analyzer::Analysis analysis;
  TimelineModel timeline;
  std::vector<StepChart> step_charts;
  Summary summary;

  Session() = default;
  Session(const Session&) = delete;  // the models point into it
  Session& operator=(const Session&) = delete;
};

/// Called on the loading thread with what is being done and the share that is done, 0 to 1.
/// May throw to cancel.
using ProgressCallback = std::function<void(std::string_view what, double share)>;

/// Opens a trace read-only, analyses it and prepares the pages. A trace without events opens, with
/// the reason as a doubt. Throws Error(kBadInput) for files that are no traces.
std::shared_ptr<const Session> open_session(const std::filesystem::path& path,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

/// The part after loading, for traces that are in memory.
std::shared_ptr<const Session> make_session(trace::Trace trace,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

}  // namespace headway::gui
