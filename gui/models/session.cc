// SPDX-License-Identifier: MIT
#include "gui/models/session.h"

#include <algorithm>
#include <thread>

#include "analyzer/attribution/own_class.h"
#include "analyzer/job/analyze_job.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/whatif/predict_findings.h"

namespace headway::gui {
namespace {

void report(const ProgressCallback& progress, std::string_view what, double share) {
  if (progress) progress(what, share);
}

int worker_threads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

/// What is known without an analysis, in its form, so that whatever draws an event needs no second
/// way.
analyzer::Analysis unanalysed(const trace::Trace& trace) {
  analyzer::Analysis result;
  const trace::DeviceOps& ops = trace.device_ops;
  analyzer::Attribution& attribution = result.attribution;
  attribution.ops.push_back({"(unattributed)", "", trace::Phase::kNone, {}, ""});
  attribution.op_of.assign(ops.size(), analyzer::OpId{0});
  attribution.range_of.assign(ops.size(), trace::RangeId::none());
  attribution.phase_of = ops.phase;
  attribution.class_of.resize(ops.size());
  attribution.contexts.resize(trace.ranges.size());
  analyzer::KernelNames kernels(trace);
  analyzer::CommunicationOps communication(trace, kernels);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    attribution.class_of[i] = analyzer::own_class(
        ops, i, kernels, communication[trace::DeviceOpId::from(i)], ops.phase[i]);
  }
  return result;
}

/// Several ranks in one window: what holds them back is a matter of the job.
void take_findings_of(const analyzer::JobReport& job, analyzer::Analysis& analysis) {
  analysis.findings = job.analysis.findings;
  analysis.assumed = job.analysis.assumed;
  analysis.unexplained = job.analysis.unexplained;
  analysis.sampled_steps = job.analysis.sampled_steps;
  for (analyzer::Finding& finding : analysis.findings)
    for (analyzer::Evidence& evidence : finding.evidence)
      evidence.event = {};  // it counts in the critical rank's own trace
}

analyzer::Analysis analyse(const trace::Trace& trace, const analyzer::AnalysisOptions& options,
                           const ProgressCallback& progress) {
  if (trace.event_count() == 0) {
    analyzer::Analysis nothing;
    nothing.doubts.push_back({"loss", "The trace has no events: nothing that ran was recorded."});
    return nothing;
  }
  analyzer::AnalysisOptions with_progress = options;
  constexpr double kStages = 6;
  double stage = 0;
  with_progress.stage_done = [&](std::string_view name) {
    if (options.stage_done) options.stage_done(name);
    stage = std::min(stage + 1, kStages);
    report(progress, "Analysing", 0.6 + 0.2 * stage / kStages);
  };
  analyzer::Analysis analysis = analyzer::analyze(trace, with_progress);
  if (const auto job = analyzer::analyze_ranks_in(trace, options)) {
    analyzer::predict_findings(job->trace, job->analysis, {},
                               job->meets_on_devices ? &trace : nullptr);
    take_findings_of(*job, analysis);
  } else {
    analyzer::predict_findings(trace, analysis);
  }
  return analysis;
}

}  // namespace

std::shared_ptr<const Session> make_first_look(ReadTrace read, const ProgressCallback& progress) {
  auto session =
      std::make_shared<Session>(std::make_shared<const trace::Trace>(std::move(read.trace)));
  session->from_cache = read.from_cache;
  session->recording = read.recording;
  session->keep_as = read.keep_as;
  report(progress, "Preparing the timeline", 0.5);
  session->analysis = unanalysed(session->trace);
  session->timeline = build_timeline(session->trace, session->analysis, worker_threads());
  report(progress, "Analysing", 0.6);
  return session;
}

std::shared_ptr<const Session> complete_session(const Session& first,
                                                const analyzer::AnalysisOptions& options,
                                                const ProgressCallback& progress) {
  auto session = std::make_shared<Session>(first.trace_owner);
  session->from_cache = first.from_cache;
  session->recording = first.recording;
  session->keep_as = first.keep_as;
  session->analysed = true;
  report(progress, "Analysing", 0.6);
  session->analysis = analyse(session->trace, options, progress);
  report(progress, "Preparing the timeline", 0.8);
  session->timeline =
      build_timeline(session->trace, session->analysis, worker_threads(), &first.timeline);
  report(progress, "Preparing the tables", 0.95);
  session->step_charts = make_step_charts(session->trace, session->analysis);
  session->summary = summarize(session->trace, session->analysis);
  report(progress, "Done", 1);
  return session;
}

std::shared_ptr<const Session> open_session(const TraceSource& source,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress,
                                            const FirstLook& first_look) {
  report(progress, "Reading", 0);
  ReadTrace read =
      read_source(source, [&](double share) { report(progress, "Reading", 0.5 * share); });
  std::shared_ptr<const Session> first = make_first_look(std::move(read), progress);
  if (first_look && first->trace.event_count() >= source.first_look_from) first_look(first);
  return complete_session(*first, options, progress);
}

std::shared_ptr<const Session> open_session(const std::filesystem::path& path,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress) {
  TraceSource source;
  source.files = {path};
  return open_session(source, options, progress, {});
}

std::shared_ptr<const Session> make_session(trace::Trace trace,
                                            const analyzer::AnalysisOptions& options,
                                            const ProgressCallback& progress) {
  return complete_session(*make_first_look({.trace = std::move(trace)}, progress), options,
                          progress);
}

}  // namespace headway::gui
