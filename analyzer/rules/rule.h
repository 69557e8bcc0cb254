// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/kernels/families.h"
#include "analyzer/partition/partition.h"
#include "analyzer/rules/finding.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a rule may look at. Everything in it outlives the check.
struct RuleContext {
  const trace::Trace& trace;
  const Steps& steps;
  const Attribution& attribution;
  const std::vector<DevicePartition>& partitions;
  DurationNs step;  ///< mean steady step of the slowest device; recoverable times are shares of it
  const KernelNames& kernels;
};

/// A rule: one file of analyzer/rules/, listed in registry.cc. To add one:
/// docs/howto/add_a_rule.md.
struct Rule {
  std::string_view id;  ///< stable
  std::string_view title;
  std::string_view fires_on;  ///< one sentence for the reference page
  Finding (*check)(const Rule& rule, const RuleContext& context);
};

/// All rules. The order breaks ties between findings of equal recoverable time: causes before
/// refinements.
std::span<const Rule* const> all_rules();

}  // namespace headway::analyzer
