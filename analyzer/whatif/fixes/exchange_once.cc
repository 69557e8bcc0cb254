// SPDX-License-Identifier: MIT
// Gradients that are accumulated over several batches are exchanged once, after the last of them.
#include <fmt/format.h>

#include <set>
#include <vector>

#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/step_exchange.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

void drop(const Predictor& predictor, const EarlyExchanges& early, Editor& editor) {
  for (DeviceOpId op : early.sums) {
    for (CallId call : waits_before(predictor.trace(), op)) editor.drop_call(call);
    editor.drop_collective(op);
  }
  for (DeviceOpId op : early.kernels) editor.drop_op(op);
}

/// Shortens a thread's own communication, found by range names: the last pass's part stays, and the
/// share `left` of the other passes' parts.
Scenario shortened(const Predictor& predictor, const EarlyExchanges& early, double left) {
  std::set<StringId> names;
  for (RangeId range : early.ranges) names.insert(predictor.trace().ranges.name[range.value]);
  const double last = 1 / static_cast<double>(early.passes);
  Scenario scenario;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const Part& part = predictor.parts()[p];
    if (part.kind == Part::Kind::kHost && part.time_class == TimeClass::kCommTransfer &&
        names.contains(part.name))
      scenario.scale(PartId::from(p), last + left * (1 - last));
  }
  return scenario;
}

/// Share of a host thread's communication that is waiting for late ranks. It moves to the last
/// exchange. Half if the other ranks are not known.
double waiting_share(const DevicePartition& partition) {
  constexpr double kUnknown = 0.5;
  const DurationNs waits = partition.per_steady_step[TimeClass::kStragglerWait];
  if (waits.ns == 0) return kUnknown;
  return ratio(waits, waits + partition.per_steady_step[TimeClass::kCommTransfer]);
}

Proposal propose(const Predictor& predictor) {
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  const std::vector<EarlyExchanges> of_ranks =
      find_early_exchanges(rule_context(predictor), partitions);
  const std::size_t judged = predictor.steps().partition;
  const EarlyExchanges& early = of_ranks[judged];
  if (early.empty())
    return not_here(
        "gradients are exchanged once per step, or ranges do not tell the backward passes apart");
  const std::string text = fmt::format(
      "gradients of {} batches are exchanged once per step, not after each", early.passes);
  if (!early.ranges.empty()) {
    Proposal proposal{true, text, shortened(predictor, early, waiting_share(partitions[judged]))};
    // At least nothing remains, because ranks that are late in turns wait less if they meet less
    // often. At most everything remains, because all of the time may be waiting.
    proposal.otherwise = {shortened(predictor, early, 0), shortened(predictor, early, 1)};
    return proposal;
  }
  Editor editor(predictor);
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const EarlyExchanges& its = of_ranks[p];
    if (its.sums.empty()) continue;
    drop(predictor, its, editor);
    slow_down_less(predictor, partitions[p].device, 1 - 1 / static_cast<double>(its.passes),
                   editor);
  }
  return {true, text, editor.take()};
}

}  // namespace

const Fix kExchangeOnce{
    "exchange-once",
    "Exchange accumulated gradients once per step",
    "comm-each-batch, comm-exposed, comm-slow-link",
    FixKind::kStructural,
    0.1,
    "--sum-each-batch off",
    "Collectives that sum gradients, the kernels that pack them, and broadcasts of buffers are "
    "removed from all backward passes of a step except the last. So is their time on a host "
    "thread, except the share that waits for late ranks (half, if the other ranks are unknown): "
    "that wait moves to the last exchange.",
    "whether memory has room for the gradients between the passes",
    propose};

}  // namespace headway::analyzer
