// SPDX-License-Identifier: MIT
// Slow data gradients of convolutions use another algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/slow_gradients.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  const std::size_t at = predictor.steps().partition;
  if (!context.partitions[at].device.valid()) return not_here("the steps run on a host thread");
  Editor editor(predictor);
  double sum = 0;
  std::size_t count = 0;
  bool by_name = false;
  // On every rank: an unchanged rank would delay the others.
  for (std::size_t i = 0; i < context.partitions.size(); ++i) {
    if (!context.partitions[i].device.valid()) continue;
    const Gradients gradients = measure_gradients(context, context.partitions[i], context.work[i]);
    for (const auto& [op, share] : gradients.kernels) {
      const auto own = static_cast<double>(context.trace.device_ops.interval(op).length().ns);
      editor.set_op(op, {std::llround(own * share)}, true);
      sum += share;
      ++count;
    }
    if (i == at) by_name = gradients.by_name;
  }
  if (count == 0)
    return not_here("no data gradient is known to be far slower than its forward pass");
  return {true,
          fmt::format("data gradients take {:.0f} % of their time{}",
                      100 * sum / static_cast<double>(count), by_name ? " (rule of thumb)" : ""),
          editor.take()};
}

}  // namespace

const Fix kFasterGradients{"faster-gradients",
                           "Let the library choose another algorithm",
                           "slow-strided-dgrad",
                           FixKind::kModelled,
                           0.4,
                           "--dgrad fast",
                           "Data gradients slower than 2.5 × their forward pass drop to the ratio "
                           "of the other convolutions, or 1.5 with fewer than three of those. "
                           "Without links between the passes, they halve.",
                           "which algorithms the installed library has",
                           propose};

}  // namespace headway::analyzer
