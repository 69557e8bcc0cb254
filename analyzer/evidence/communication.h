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

/// The answer of rules that need all ranks, for a trace of one: what to give.
Finding needs_all_ranks(const Rule& rule, const RuleContext& context);

/// Ranks that share a node: what the program says of its nodes, else what launched it; 0 unknown.
int ranks_per_node(const trace::Trace& trace);

/// The collectives of the trace at hand in steady steps, and how many steady steps there are.
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

/// Fits matched transfers of one communicator and kind over their sizes, each size weighted by its
/// count and relative error. False with fewer than two sizes, or when time does not grow with size.
bool fit_latency_and_rate(const std::vector<const CollectiveFigures*>& sizes, LatencyAndRate& out);

/// The bucket size with which `bytes`, ready evenly over `ready_ns`, are through first: a power of
/// two from 1 MiB to 512 MiB.
std::int64_t best_bucket(const LatencyAndRate& link, double bytes, double ready_ns);

}  // namespace headway::analyzer
