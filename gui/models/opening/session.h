// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/figures/step_chart.h"
#include "gui/models/figures/summary.h"
#include "gui/models/opening/trace_source.h"
#include "gui/models/timeline/timeline_model.h"
#include "trace/trace.h"

namespace headway::gui {

/// An opened trace with everything that the pages show, all prepared while loading. Immutable;
/// pages share it. A large trace has two sessions over the same `trace`, one after the other: a
/// first look without the results of the analysis, and the full session.
struct Session {
  explicit Session(std::shared_ptr<const trace::Trace> held)
      : trace_owner(std::move(held)), trace(*trace_owner) {}
  Session(const Session&) = delete;  // the models point into it
  Session& operator=(const Session&) = delete;

  std::shared_ptr<const trace::Trace> trace_owner;
  const trace::Trace& trace;
  /// False: a first look. `analysis` then has no steps, partitions or findings, and of the
  /// attribution only the classes of ops; tables and charts are empty.
  bool analysed = false;
  bool from_cache = false;
  bool recording = false;        ///< the recorder was still writing when this was read
  std::vector<TracePart> parts;  ///< the recordings that the trace consists of, at least one
  /// Set if TraceCache::store may keep the trace.
  std::optional<trace::SnapshotKey> keep_as;
  /// The analysis of all ranks in the trace. For a job, `job` is set, and findings, doubts and step
  /// cost are those that the command line reports.
  analyzer::Analysis analysis;
  TimelineModel timeline;
  std::vector<StepChart> step_charts;
  Summary summary;
};

/// Called with the current activity and the share that is done, 0 to 1; on the loading thread or
/// one of its helpers, never on two at a time. May throw to cancel.
using ProgressCallback = std::function<void(std::string_view what, double share)>;
using FirstLook = std::function<void(std::shared_ptr<const Session>)>;

/// Opens a trace read-only, analyses it and prepares the pages. A trace without events opens with
/// the reason as a doubt. Throws Error(kBadInput) for files that are not traces.
std::shared_ptr<const Session> open_session(const std::filesystem::path& path,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

/// The same for any kind of source (errors: see read_source). Calls `first_look` as soon as the
/// timeline can be drawn, if the analysis will take noticeable time.
std::shared_ptr<const Session> open_session(const TraceSource& source,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress,
                                            const FirstLook& first_look);

/// The part after loading, for traces that are in memory.
std::shared_ptr<const Session> make_session(trace::Trace trace,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

/// make_first_look() makes the first look at a trace in memory. complete_session() makes the full
/// session that follows; it shares the trace and all lanes that the analysis does not colour.
std::shared_ptr<const Session> make_first_look(ReadTrace read, const ProgressCallback& progress);
std::shared_ptr<const Session> complete_session(const Session& first,
                                                const analyzer::AnalysisOptions& options,
                                                const ProgressCallback& progress);

}  // namespace headway::gui
