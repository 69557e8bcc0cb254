// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/ranks/job.h"

/// What the rules on communication have in common.
namespace headway::analyzer {

/// One communication as evidence: "allreduce of 25.0 MB".
std::string communication_note(const RuleContext& context, const Segment& segment);

/// The finding of a rule that needs all ranks, for a trace of one rank: "cannot tell", unless the
/// program exchanges nothing.
Finding needs_all_ranks(const Rule& rule, const RuleContext& context);

/// Number of ranks that share a node, from the program's settings or from its launcher; 0 unknown.
int ranks_per_node(const trace::Trace& trace);

/// The collectives of the trace, those in steady steps, and the number of steady steps.
struct SteadyCollectives {
  Collectives all;
  std::vector<std::uint32_t> rows;  ///< of `all`, those launched in steady steps
  std::int64_t steps = 0;
};
SteadyCollectives steady_collectives(const RuleContext& context);

/// Time of a transfer as latency + bytes / rate.
struct LatencyAndRate {
  double latency_ns = 0;
  double bytes_per_ns = 0;
  /// Below this size latency takes more than half of the time.
  double knee_bytes() const { return latency_ns * bytes_per_ns; }
};

/// Fits latency and rate to the matched transfers of one communicator and kind. Each size is
/// weighted by its count and relative error. False with fewer than two sizes, or if the time does
/// not grow with the size.
bool fit_latency_and_rate(const std::vector<const CollectiveFigures*>& sizes, LatencyAndRate& out);

/// The bucket size with which `bytes` that become ready evenly over `ready_ns` are exchanged
/// earliest: a power of two from 1 MiB to 512 MiB.
std::int64_t best_bucket(const LatencyAndRate& link, double bytes, double ready_ns);

}  // namespace headway::analyzer
