// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/device_view.h"
#include "analyzer/graph/critical_path.h"
#include "analyzer/partition/partition.h"
#include "analyzer/rules/finding.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

struct AnalysisOptions {
  StepOptions steps;
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
  CriticalPath critical_path;               ///< of the steady steps
  std::vector<Finding> findings;  ///< found first, by recoverable time; then cannot tell; then fine
  std::vector<Doubt> doubts;      ///< worst first
  DurationNs median_step;         ///< of the steady steps on the training thread; 0 without steps
};

/// Analyses a trace. Deterministic. Throws Error(kBadInput) when the trace has no events at all.
Analysis analyze(const trace::Trace& trace, const AnalysisOptions& options = {});

}  // namespace headway::analyzer
