// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/device_view.h"
#include "analyzer/partition/partition.h"
#include "analyzer/rules/finding.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

struct JobAnalysis;  // analyzer/ranks/job.h

struct AnalysisOptions {
  StepOptions steps;
  /// The job that the trace's rank is part of, whose critical rank it is; null for one rank alone.
  std::shared_ptr<const JobAnalysis> job = nullptr;
};

/// Something the reader must know before trusting the figures. Printed first.
struct Doubt {
  std::string severity;  ///< "loss", "doubt", "info"
  std::string text;
};

/// Everything known about one trace: what reports print and the GUI shows.
struct Analysis {
  Steps steps;
  Attribution attribution;
  std::vector<DeviceView> device_views;     ///< per device, over its whole span
  std::vector<DevicePartition> partitions;  ///< per device, per step
  std::vector<Finding> findings;  ///< found first, by recoverable time; then cannot tell; then fine
  std::vector<Doubt> doubts;      ///< worst first
  DurationNs median_step;         ///< of the steady steps on the training thread; 0 without steps
  /// The job that this rank is the critical one of; null for a rank alone. Partitions then know
  /// `straggler_wait`.
  std::shared_ptr<const JobAnalysis> job;
};

/// Analyses a trace. Deterministic. Throws Error(kBadInput) when the trace has no events at all.
Analysis analyze(const trace::Trace& trace, const AnalysisOptions& options = {});

/// Found first, by recoverable time; then what cannot be told; then what is fine. Equal ones keep
/// their order.
void sort_findings(std::vector<Finding>& findings);

}  // namespace headway::analyzer
