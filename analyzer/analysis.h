// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/audit.h"
#include "analyzer/evidence/kernel_work.h"
#include "analyzer/graph/assumptions.h"
#include "analyzer/graph/critical_path.h"
#include "analyzer/model/doubt.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/step_cost.h"
#include "analyzer/partition/device_view.h"
#include "analyzer/partition/partition.h"
#include "analyzer/steps/program.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

struct JobAnalysis;  // analyzer/ranks/job.h

struct AnalysisOptions {
  StepOptions steps;
  /// The job in which the trace's rank is the critical one; null for a single rank.
  std::shared_ptr<const JobAnalysis> job = nullptr;
  /// Called after each stage with its name ("steps", "partition"), for timing; may be empty.
  std::function<void(std::string_view)> stage_done = {};
};

/// Spread of the steady steps of the slowest device, or of the training thread without a device; of
/// the whole span without steps. Zero when there is neither.
struct StepTimes {
  DurationNs p50;
  DurationNs p90;
  DurationNs max;
  /// Median over the steps of how far the host is ahead when it ends its step: what the device
  /// still has queued. Negative when the host ends last: it waits for the device in each step.
  DurationNs host_ahead;
};

/// Everything known about one trace: what reports print and the GUI shows.
struct Analysis {
  Steps steps;
  StepOptions step_options;  ///< the options that the steps were found with
  ProgramFacts program;      ///< training or inference, and of which frameworks
  Attribution attribution;
  std::vector<DeviceView> device_views;     ///< per device, over its whole span
  std::vector<DevicePartition> partitions;  ///< per device, per step
  std::vector<KernelWork> work;             ///< what each device's kernels do; as `partitions`
  CriticalPath critical_path;               ///< of the steady steps
  std::vector<Finding> findings;            ///< in the order of sort_findings
  /// Fixes in the order to make them; each gain includes those before it (analyzer/whatif/plan.h). Empty for fewer than two.
  std::vector<PredictedGain> plan;
  /// Each known fix that applies, replayed alone; empty without predictions.
  std::vector<PredictedGain> fixes;
  /// What the predicted gains of findings rest on besides the recording; empty without any.
  std::vector<Assumption> assumed;
  /// The share of the step that has no recorded cause when it is replayed, and so is in no
  /// predicted gain; 0 without any.
  double unexplained = 0;
  /// Time that recording added to a step, where the step time without recording is known. Predicted gains exclude it.
  DurationNs recording_cost;
  /// The steps that were replayed for the predicted gains when those are a sample of a long
  /// recording; 0: all.
  std::int64_t sampled_steps = 0;
  std::vector<AuditResult> audit;  ///< what does not add up in the trace itself; empty: nothing
  std::vector<Doubt> doubts;       ///< worst first
  /// Of the slowest device or training thread: what shares, gains and budgets refer to.
  StepCost step_cost;
  StepTimes step_times;
  DurationNs median_step;  ///< the typical step, as in `step_cost`; 0 without steps
  /// Samples (images, sequences) that all ranks train on in a step, where the recording tells.
  std::optional<double> samples_per_step;
  /// The job in which this rank is the critical one; null for a single rank. In a job, partitions
  /// have `straggler_wait`.
  std::shared_ptr<const JobAnalysis> job;

  /// Samples of all ranks per second of step cost; nullopt where the batch is not known.
  std::optional<double> samples_per_s() const {
    const double seconds = step_cost.per_step().seconds();
    if (!samples_per_step || seconds <= 0) return std::nullopt;
    return *samples_per_step / seconds;
  }
};

/// Analyses a trace. Deterministic. Throws Error(kBadInput) when the trace has no events at all.
Analysis analyze(const trace::Trace& trace, const AnalysisOptions& options = {});

/// Sorts by status (found, no gain, cannot tell, fine). Within a status, findings about the recording
/// come first, then `worth` decides, then recoverable time. Equal ones keep their order.
void sort_findings(std::vector<Finding>& findings);

/// Drops advice for frameworks other than the recorded program's.
void keep_fitting_advice(const ProgramFacts& program, std::vector<Finding>& findings);

}  // namespace headway::analyzer
