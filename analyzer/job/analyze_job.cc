// SPDX-License-Identifier: MIT
#include "analyzer/job/analyze_job.h"

#include <malloc.h>

#include <algorithm>

#include "analyzer/job/summarise.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/merge_traces.h"
#include "common/archive.h"
#include "common/error.h"
#include "trace/load/load.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

/// What one process has to say of its files.
struct Share {
  std::vector<std::string> ranks;  ///< summaries as bytes
  std::int64_t bad_file = -1;      ///< index of the first that cannot be used; -1: all can
  std::int32_t exit_code = 0;
  std::string error;
};

template <class A>
void archive(A& a, Share& share) {
  a(share.ranks, share.bad_file, share.exit_code, share.error);
}

/// Evidence of a rank's own trace refers to events of the whole one.
void keep_events(const std::vector<Finding>& own, const trace::KeptRows& kept,
                 std::vector<Finding>& findings) {
  for (std::size_t f = 0; f < findings.size(); ++f) {
    for (std::size_t e = 0; e < findings[f].evidence.size(); ++e)
      findings[f].evidence[e].event = event_in_whole(kept, own[f].evidence[e].event);
  }
}

void summarise_ranks(const Trace& trace, const std::vector<RankProcesses>& ranks,
                     const AnalysisOptions& options, std::vector<RankSummary>& out) {
  if (ranks.size() == 1) {
    out.push_back(summarise(trace, analyze(trace, options), ranks[0].identity));
    return;
  }
  for (const RankProcesses& rank : ranks) {
    Trace own = take_rank(trace, rank.main, ranks);
    const Analysis analysis = analyze(own, options);
    RankSummary summary = summarise(own, analysis, rank.identity);
    summary.process = trace.processes[rank.main.value].global_pid;
    keep_events(analysis.findings, rows_of_rank(trace, rank.main, ranks), summary.findings);
    out.push_back(std::move(summary));
  }
}

Share summarise_share(const std::vector<std::string>& files, const AnalysisOptions& options,
                      const Exchange& exchange) {
  Share share;
  for (auto i = static_cast<std::size_t>(exchange.index()); i < files.size();
       i += static_cast<std::size_t>(exchange.count())) {
    std::vector<RankSummary> ranks;
    try {
      Trace trace = trace::load(files[i]);
      summarise_ranks(trace, ranks_in(trace, i), options, ranks);
    } catch (const Error& error) {
      share.bad_file = static_cast<std::int64_t>(i);
      share.exit_code = static_cast<std::int32_t>(error.code());
      share.error = error.what();
      break;
    }
    for (RankSummary& rank : ranks) share.ranks.push_back(to_bytes(rank));
    ::malloc_trim(0);  // glibc keeps the memory of the last trace, and the next would come on top
  }
  return share;
}

/// The summaries of all processes, or the error of the first bad file.
std::vector<RankSummary> unpack(std::vector<std::string> shares) {
  std::vector<RankSummary> ranks;
  Share first_bad;
  for (std::string& bytes : shares) {
    Share share;
    ByteReader reader(bytes);
    reader(share);
    bytes = {};
    if (share.bad_file >= 0 && (first_bad.bad_file < 0 || share.bad_file < first_bad.bad_file))
      first_bad = share;
    for (const std::string& rank : share.ranks) ranks.push_back(rank_summary_from(rank));
  }
  if (first_bad.bad_file >= 0)
    throw Error(static_cast<ExitCode>(first_bad.exit_code), first_bad.error);
  return ranks;
}

Trace rank_of_file(const Trace& trace, const RankSummary& rank) {
  const std::vector<RankProcesses> ranks = ranks_in(trace, 0);
  const RankProcesses* its = nullptr;
  for (const RankProcesses& candidate : ranks) {
    if (!candidate.main.valid() || trace.processes[candidate.main.value].global_pid != rank.process)
      continue;
    // Containers number their processes alike.
    if (!its || candidate.identity.rank == rank.identity.rank) its = &candidate;
  }
  if (!its) fail_input("{}: changed during reading.", rank.file);
  return take_rank(trace, its->main, ranks);
}

/// Jobs of several files with more events are replayed by their critical rank alone.
constexpr std::size_t kMostOfWhole = 400'000;

bool meet_on_devices(const JobAnalysis& job) {
  return std::ranges::none_of(job.ranks, [](const RankSummary& rank) {
    const RankDevice* device = main_device(rank);
    return device && device->on_host;
  });
}

/// The traces of all ranks as one; nothing where they are too many events.
std::optional<Trace> whole_of(const JobAnalysis& job) {
  std::size_t events = 0;
  std::vector<std::string> files;
  for (const RankSummary& rank : job.ranks) {
    events += static_cast<std::size_t>(rank.events);
    if (std::ranges::find(files, rank.file) == files.end()) files.push_back(rank.file);
  }
  if (events > kMostOfWhole) return std::nullopt;
  std::vector<Trace> traces;
  traces.reserve(files.size());  // growing would copy traces
  for (const std::string& file : files) traces.push_back(trace::load(file));
  return merge_traces(std::move(traces));
}

/// `loaded`: the only file's trace, when there is one; else the critical rank's file is read again.
std::unique_ptr<JobReport> join(std::vector<RankSummary> ranks, const AnalysisOptions& options,
                                const Trace* loaded) {
  auto report = std::make_unique<JobReport>();
  AnalysisOptions with_job = options;
  if (ranks.size() == 1) {
    report->trace = trace::load(ranks[0].file);
  } else {
    with_job.job = std::make_shared<const JobAnalysis>(combine(std::move(ranks)));
    const RankSummary& critical = with_job.job->ranks[with_job.job->critical];
    if (loaded) {
      report->trace = rank_of_file(*loaded, critical);
    } else if (critical.process >= 0) {
      report->trace = rank_of_file(trace::load(critical.file), critical);
    } else {
      report->trace = trace::load(critical.file);
    }
  }
  report->analysis = analyze(report->trace, with_job);
  if (with_job.job) add_findings_of_ranks(*with_job.job, report->analysis);
  report->meets_on_devices = with_job.job && meet_on_devices(*with_job.job);
  if (report->meets_on_devices && !loaded) report->whole = whole_of(*with_job.job);
  return report;
}

}  // namespace

std::unique_ptr<JobReport> analyze_ranks_in(const Trace& trace, const AnalysisOptions& options) {
  std::vector<RankProcesses> ranks = ranks_in(trace, 0);
  if (ranks.size() < 2) return nullptr;
  std::vector<RankSummary> summaries;
  summarise_ranks(trace, ranks, options, summaries);
  return join(std::move(summaries), options, &trace);
}

std::unique_ptr<JobReport> analyze_ranks(Trace trace, const AnalysisOptions& options) {
  if (auto job = analyze_ranks_in(trace, options)) {
    if (job->meets_on_devices) job->whole = std::move(trace);
    return job;
  }
  auto report = std::make_unique<JobReport>();
  report->trace = std::move(trace);
  report->analysis = analyze(report->trace, options);
  return report;
}

std::unique_ptr<JobReport> analyze_job(const std::vector<std::string>& files,
                                       const AnalysisOptions& options, Exchange& exchange) {
  if (files.size() == 1 && exchange.count() == 1)  // loaded once only
    return analyze_ranks(trace::load(files[0]), options);
  Share share = summarise_share(files, options, exchange);
  ByteWriter writer;
  writer(share);
  share = {};
  std::vector<std::string> shares = exchange.gather(writer.take());
  return exchange.index() == 0 ? join(unpack(std::move(shares)), options, nullptr) : nullptr;
}

}  // namespace headway::analyzer
