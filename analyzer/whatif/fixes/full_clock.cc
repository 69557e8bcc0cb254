// SPDX-License-Identifier: MIT
// The multiprocessors run at their highest clock.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/counters.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A clock of at least this share of the highest counts as the highest.
constexpr double kFull = 0.99;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const MarkedSteps& marked = predictor.steps();
  const Interval window{predictor.recorded(marked.steps.front()).begin,
                        predictor.recorded(marked.steps.back()).end};
  Editor editor(predictor);
  double slowest = 1;
  for (std::uint32_t d = 0; d < trace.devices.size(); ++d) {
    const CounterSeries* clock = counters::find(trace, counters::kGpuSmClock, DeviceId{d});
    const auto highest = static_cast<double>(trace.devices[d].max_clock_hz);
    if (!clock || highest <= 0) continue;
    const counters::Summary summary = counters::summarise(*clock, window);
    if (summary.count == 0 || summary.mean <= 0 || summary.mean > kFull * highest) continue;
    const double ratio = summary.mean / highest;
    slowest = std::min(slowest, ratio);
    const DeviceOps& ops = trace.device_ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const DeviceOpId op{i};
      const TimeClass its = predictor.analysis().attribution.class_of[i];
      if (ops.kind[i] != DeviceOpKind::kKernel || its == TimeClass::kCommTransfer ||
          trace.streams[ops.stream[i].value].device != DeviceId{d})
        continue;
      const auto own = static_cast<double>(ops.interval(op).length().ns);
      editor.set_op(op, {std::llround(own * ratio)}, true);
    }
  }
  if (editor.empty()) return not_here("no clock sample below the highest was recorded");
  return {true,
          fmt::format("kernels run at full clock instead of {} of it", format_percent(slowest)),
          editor.take()};
}

}  // namespace

const Fix kFullClock{
    "full-clock",
    "Run at full clock",
    "clock-throttled",
    FixKind::kCeiling,
    0.1,
    "",
    "Kernels except communication shrink by the ratio of their clock to the highest clock.",
    "which kernels are memory-bound (memory has its own clock)",
    propose};

}  // namespace headway::analyzer
