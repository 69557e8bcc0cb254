// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/ranks/job.h"

namespace headway::analyzer {

/// Processes that share the work of one analysis: one alone, or several under MPI. Calls are
/// collective: all processes make them in the same order.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual int index() const = 0;  ///< 0: the one that prints
  virtual int count() const = 0;
  /// The bytes of all processes in order on process 0; empty elsewhere.
  virtual std::vector<std::string> gather(std::string bytes) = 0;
};

/// No others.
class Alone final : public Exchange {
 public:
  int index() const override { return 0; }
  int count() const override { return 1; }
  std::vector<std::string> gather(std::string bytes) override { return {std::move(bytes)}; }
};

/// The trace of the rank to look at, and its analysis, which knows of the job (`analysis.job`) when
/// there are several ranks.
struct JobReport {
  trace::Trace trace;
  Analysis analysis;
  /// Replays know how ranks wait for each other on devices. Of jobs that meet on training threads, the critical rank
  /// alone is replayed: its waiting is least.
  bool meets_on_devices = false;
  /// All ranks on one clock, where there are several: what replays are made of, as the ranks wait for each
  /// other. None for several files with many events.
  std::optional<trace::Trace> whole = std::nullopt;
};

/// Loads, analyses and drops each file in turn, process i those with index i modulo the number of
/// processes; then joins the summaries on process 0 and looks at the critical rank once more.
/// Memory: one file, and the summaries. On other processes the result is null. The first bad file
/// in the order of `files` throws Error on process 0 alone: a launcher ends the job with the code of
/// the process that speaks, and would kill it before it has spoken if another one failed first.
std::unique_ptr<JobReport> analyze_job(const std::vector<std::string>& files,
                                       const AnalysisOptions& options, Exchange& exchange);

/// The same for the ranks of one trace that is in memory already; of a trace of one rank, its
/// analysis alone.
std::unique_ptr<JobReport> analyze_ranks(trace::Trace trace, const AnalysisOptions& options = {});

/// The same without taking the trace; null for one rank alone. The report's events are those of the
/// critical rank's own trace, not of `trace`.
std::unique_ptr<JobReport> analyze_ranks_in(const trace::Trace& trace,
                                            const AnalysisOptions& options = {});

/// Adds to the findings on the critical rank what was found on others only, and on how many ranks
/// each was found. Keeps the order of findings.
void add_findings_of_ranks(const JobAnalysis& job, Analysis& analysis);

}  // namespace headway::analyzer
