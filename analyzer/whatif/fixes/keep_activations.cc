// SPDX-License-Identifier: MIT
// Activations are kept for the backward pass, which no longer recomputes them.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/recomputed.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Certainty if the free memory is not known.
constexpr double kMayNotFit = 0.5;

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  Editor editor(predictor);
  std::int64_t kernels = 0;
  std::int64_t steps = 0;
  bool sure = true;
  for (const DevicePartition& partition : predictor.analysis().partitions) {
    if (!partition.device.valid()) continue;
    const Recomputed its = find_recomputed(context, partition);
    if (its.ops.empty()) continue;
    if (its.room == MemoryRoom::kNo)
      return not_here(fmt::format("memory has {} free; the recomputed results take about {}",
                                  format_bytes(its.free_bytes), format_bytes(its.bytes)));
    sure &= its.room == MemoryRoom::kYes;
    for (DeviceOpId op : its.ops) editor.drop_op(op);
    kernels += its.kernels;
    steps += its.steps;
  }
  if (editor.empty()) return not_here("no forward kernels run again in the backward pass");
  Proposal proposal{true,
                    fmt::format("{} forward kernels per step do not run again in the backward pass",
                                kernels / std::max<std::int64_t>(1, steps)),
                    editor.take()};
  proposal.certainty = sure ? 1 : kMayNotFit;
  return proposal;
}

}  // namespace

const Fix kKeepActivations{"keep-activations",
                           "Keep activations for the backward pass",
                           "recomputation",
                           FixKind::kStructural,
                           0.15,
                           "--recompute off",
                           "Backward kernels that repeat the forward pass are neither run nor "
                           "launched, and allocate no memory.",
                           "memory for later, longer inputs",
                           propose};

}  // namespace headway::analyzer
