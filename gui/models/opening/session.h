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

/// An opened trace with everything the pages show, all made while loading. Immutable; pages share
/// it. Of a large trace there are two, one after the other, over the same `trace`: the first look,
/// made of what takes no time to find, and the full one.
struct Session {
  explicit Session(std::shared_ptr<const trace::Trace> held)
      : trace_owner(std::move(held)), trace(*trace_owner) {}
  Session(const Session&) = delete;  // the models point into it
  Session& operator=(const Session&) = delete;

  std::shared_ptr<const trace::Trace> trace_owner;
  const trace::Trace& trace;
  /// False: a first look. `analysis` then has no steps, partitions and findings, and of the
  /// attribution the classes of ops only, nothing of ranges; tables and charts are empty.
  bool analysed = false;
  bool from_cache = false;
  bool recording = false;        ///< the recorder was still writing when this was read
  std::vector<TracePart> parts;  ///< the recordings that it is made of, at least one
  /// Set for what TraceCache::store may keep.
  std::optional<trace::SnapshotKey> keep_as;
  /// Of all ranks in the trace. Of a job, `job` is set, and findings, doubts and step cost are those that the
  /// command line reports.
  analyzer::Analysis analysis;
  TimelineModel timeline;
  std::vector<StepChart> step_charts;
  Summary summary;
};

/// Called with what is being done and the share that is done, 0 to 1; on the loading thread or one
/// that works for it, never on two at a time. May throw to cancel.
using ProgressCallback = std::function<void(std::string_view what, double share)>;
using FirstLook = std::function<void(std::shared_ptr<const Session>)>;

/// Opens a trace read-only, analyses it and prepares the pages. A trace without events opens, with
/// the reason as a doubt. Throws Error(kBadInput) for files that are no traces.
std::shared_ptr<const Session> open_session(const std::filesystem::path& path,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

/// The same for a source of any kind (see read_source, which tells the errors). Calls `first_look`
/// as soon as the timeline can be drawn, if the analysis will keep the user waiting.
std::shared_ptr<const Session> open_session(const TraceSource& source,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress,
                                            const FirstLook& first_look);

/// The part after loading, for traces that are in memory.
std::shared_ptr<const Session> make_session(trace::Trace trace,
                                            const analyzer::AnalysisOptions& options = {},
                                            const ProgressCallback& progress = {});

/// The first look at a trace that is in memory, and the full session that follows it: shares its
/// trace and all lanes that the analysis does not colour.
std::shared_ptr<const Session> make_first_look(ReadTrace read, const ProgressCallback& progress);
std::shared_ptr<const Session> complete_session(const Session& first,
                                                const analyzer::AnalysisOptions& options,
                                                const ProgressCallback& progress);

}  // namespace headway::gui
