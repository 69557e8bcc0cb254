// SPDX-License-Identifier: MIT
#include "gui/models/session.h"

#include <algorithm>
#include <thread>

#include "common/error.h"
#include "trace/load/load.h"

namespace headway::gui {
namespace {

void report(const ProgressCallback& progress, std::string_view what, double share) {
  if (progress) progress(what, share);
}

}  // namespace

std::shared_ptr<const Session> open_session(const std::filesystem::path& path,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress) {
  report(progress, "Reading", 0);
  trace::LoadOptions loading;
  loading.progress = [&](double share) { report(progress, "Reading", 0.6 * share); };
  return make_session(trace::load(path, loading), options, progress);
}

std::shared_ptr<const Session> make_session(trace::Trace trace,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress) {
  auto session = std::make_shared<Session>();
  session->trace = std::move(trace);
  report(progress, "Analysing", 0.6);
  if (session->trace.event_count() > 0) {
    session->analysis = analyzer::analyze(session->trace, options);
  } else {
    session->analysis.doubts.push_back(
        {"loss", "The trace has no events: nothing that ran was recorded."});
  }
  report(progress, "Preparing the timeline", 0.8);
  int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  session->timeline = build_timeline(session->trace, session->analysis, threads);
  report(progress, "Preparing the tables", 0.95);
  session->step_charts = make_step_charts(session->trace, session->analysis);
  session->summary = summarize(session->trace, session->analysis);
  report(progress, "Done", 1);
  return session;
}

}  // namespace headway::gui
