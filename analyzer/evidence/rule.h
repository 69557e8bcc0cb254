// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/evidence/kernel_work.h"
#include "analyzer/kernels/families.h"
#include "analyzer/model/finding.h"
#include "analyzer/partition/partition.h"
#include "analyzer/steps/program.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

struct JobAnalysis;  // analyzer/ranks/job.h

/// What a rule may look at. Everything in it outlives the check.
struct RuleContext {
  const trace::Trace& trace;
  const Steps& steps;
  const Attribution& attribution;
  const std::vector<DevicePartition>& partitions;
  DurationNs step;  ///< step cost of the slowest device; recoverable times are shares of it
  const KernelNames& kernels;
  const std::vector<KernelWork>& work;  ///< one for each of `partitions`
  const JobAnalysis* job = nullptr;     ///< the job whose critical rank this is; null for one rank
  ProgramFacts program = {};            ///< training or inference, and of which frameworks
};

/// A rule: one file of analyzer/rules/, listed in registry.cc. To add one:
/// docs/howto/add_a_rule.md.
struct Rule {
  std::string_view id;  ///< stable
  std::string_view title;
  std::string_view fires_on;  ///< one sentence for the reference page
  Finding (*check)(const Rule& rule, const RuleContext& context);
  /// Judges all ranks of a job at once; its findings on single ranks are then ignored.
  bool whole_job = false;
  std::string_view why_no_fix = {};  ///< why no fix of it can be predicted; empty where one can
};

}  // namespace headway::analyzer
