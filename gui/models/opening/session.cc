// SPDX-License-Identifier: MIT
#include "gui/models/opening/session.h"

#include <algorithm>
#include <thread>

#include "analyzer/attribution/own_class.h"
#include "analyzer/job/analyze_job.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/refine.h"
#include "analyzer/whatif/predict_findings.h"

namespace headway::gui {
namespace {

void report(const ProgressCallback& progress, std::string_view what, double share) {
  if (progress) progress(what, share);
}

int worker_threads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

/// The facts that are known without an analysis, as an Analysis, so that drawing code works
/// unchanged.
analyzer::Analysis unanalysed(const trace::Trace& trace) {
  analyzer::Analysis result;
  const trace::DeviceOps& ops = trace.device_ops;
  analyzer::Attribution& attribution = result.attribution;
  attribution.ops.push_back({"(unattributed)", "", trace::Phase::kNone, {}, ""});
  attribution.op_of.assign(ops.size(), analyzer::OpId{0});
  attribution.range_of.assign(ops.size(), trace::RangeId::none());
  attribution.phase_of = ops.phase;
  attribution.class_of.resize(ops.size());
  analyzer::KernelNames kernels(trace);
  analyzer::CommunicationOps communication(trace, kernels);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    attribution.class_of[i] = analyzer::own_class(
        ops, i, kernels, communication[trace::DeviceOpId::from(i)], ops.phase[i]);
  }
  return result;
}

/// Evidence of a finding, with event rows converted to those of `trace`.
std::vector<analyzer::Evidence> evidence_in_whole(const analyzer::Finding& finding,
                                                  const analyzer::JobAnalysis& job,
                                                  const trace::KeptRows& critical) {
  std::vector<analyzer::Evidence> evidence = finding.evidence;
  if (finding.rank < 0 || finding.rank == job.ranks[job.critical].identity.rank) {
    for (analyzer::Evidence& one : evidence)
      one.event = analyzer::event_in_whole(critical, one.event);
    return evidence;
  }
  for (const analyzer::RankSummary& rank : job.ranks) {
    if (rank.identity.rank != finding.rank) continue;
    for (const analyzer::Finding& own : rank.findings)
      if (own.rule == finding.rule) return own.evidence;
  }
  return evidence;
}

/// Copies the verdicts of the command line's report on a job to the analysis of all its ranks.
void take_verdicts_of(const analyzer::JobReport& report, const trace::Trace& trace,
                      analyzer::Analysis& analysis) {
  const analyzer::JobAnalysis& job = *report.analysis.job;
  const std::vector<trace::KeptRows> kept = analyzer::rows_of_ranks(job.ranks, trace);
  analyzer::refine_partitions_of_all(job, kept, trace, analysis.attribution, analysis.steps,
                                     analysis.partitions);
  analysis.job = report.analysis.job;
  analysis.findings = report.analysis.findings;
  for (analyzer::Finding& finding : analysis.findings)
    finding.evidence = evidence_in_whole(finding, job, kept[job.critical]);
  analysis.assumed = report.analysis.assumed;
  analysis.unexplained = report.analysis.unexplained;
  analysis.sampled_steps = report.analysis.sampled_steps;
  analysis.doubts = report.analysis.doubts;
  analysis.step_cost = report.analysis.step_cost;
  analysis.step_times = report.analysis.step_times;
  analysis.median_step = report.analysis.median_step;
  analysis.samples_per_step = report.analysis.samples_per_step;
}

/// Fills in the analysis; returns the report of a job of several ranks, else null.
std::unique_ptr<analyzer::JobReport> analyse(const trace::Trace& trace,
                                             const analyzer::AnalysisOptions& options,
                                             const ProgressCallback& progress,
                                             analyzer::Analysis& analysis) {
  if (trace.event_count() == 0) {
    analysis.doubts.push_back({"loss", "The trace has no events."});
    return nullptr;
  }
  analyzer::AnalysisOptions with_progress = options;
  constexpr double kStages = 6;
  double stage = 0;
  with_progress.stage_done = [&](std::string_view name) {
    if (options.stage_done) options.stage_done(name);
    stage = std::min(stage + 1, kStages);
    report(progress, "Analysing", 0.6 + 0.2 * stage / kStages);
  };
  analysis = analyzer::analyze(trace, with_progress);
  auto job = analyzer::analyze_ranks_in(trace, options);
  if (!job) {
    analyzer::predict_findings(trace, analysis);
    return nullptr;
  }
  analyzer::predict_findings(job->trace, job->analysis, {},
                             job->meets_on_devices ? &trace : nullptr);
  take_verdicts_of(*job, trace, analysis);
  return job;
}

}  // namespace

std::shared_ptr<const Session> make_first_look(ReadTrace read, const ProgressCallback& progress) {
  auto session =
      std::make_shared<Session>(std::make_shared<const trace::Trace>(std::move(read.trace)));
  session->from_cache = read.from_cache;
  session->recording = read.recording;
  session->keep_as = read.keep_as;
  session->parts = std::move(read.parts);
  if (session->parts.empty()) session->parts.push_back({session->trace.path, {}, 0});
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
  session->parts = first.parts;
  session->analysed = true;
  report(progress, "Analysing", 0.6);
  const auto job = analyse(session->trace, options, progress, session->analysis);
  report(progress, "Preparing the timeline", 0.8);
  session->timeline =
      build_timeline(session->trace, session->analysis, worker_threads(), &first.timeline);
  report(progress, "Preparing the tables", 0.95);
  session->step_charts = make_step_charts(session->trace, session->analysis);
  session->summary = summarize(session->trace, session->analysis, job.get());
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
