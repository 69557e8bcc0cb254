// SPDX-License-Identifier: MIT
// Slow data gradients of convolutions take another algorithm.
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
  if (!context.partitions[at].device.valid()) return not_here("the steps are a host thread's");
  const Gradients gradients = measure_gradients(context, context.partitions[at], context.work[at]);
  if (gradients.kernels.empty())
    return not_here("no data gradient is known to take far longer than its forward pass");
  Editor editor(predictor);
  double sum = 0;
  for (const auto& [op, share] : gradients.kernels) {
    const auto own = static_cast<double>(context.trace.device_ops.interval(op).length().ns);
    editor.set_op(op, {std::llround(own * share)}, true);
    sum += share;
  }
  const double mean = sum / static_cast<double>(gradients.kernels.size());
  return {true,
          fmt::format("data gradients take {:.0f} % of their time{}", 100 * mean,
                      gradients.by_name ? ", by a rule of thumb" : ""),
          editor.take()};
}

}  // namespace

const Fix kFasterGradients{"faster-gradients",
                           "Let the library choose another algorithm",
                           "slow-strided-dgrad",
                           FixKind::kModelled,
                           0.4,
                           "",
                           "Data gradients of convolutions that take over 2.5 times their forward "
                           "passes take 1.5 times as long as those; "
                           "where the passes are not linked, half.",
                           "which algorithms the installed library has",
                           propose};

}  // namespace headway::analyzer
