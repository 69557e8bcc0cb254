// SPDX-License-Identifier: MIT
// A program that generates tokens recomputes all earlier ones in each step, so its kernels grow.
// With keys and values kept, each step computes only one token: at best, only the part of a
// kernel's time that its grid does not explain remains.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/evidence/step_trend.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least growth from the first to the last third of the steps.
constexpr double kGrows = 1.05;
/// Least share of the kernels' time.
constexpr double kMost = 0.5;

using Kernels = std::vector<DeviceOpId>;

/// The kernel at one place of all steps.
struct Place {
  double first_blocks = 0;
  double last_blocks = 0;
  double without_ns = 0;  ///< by a line through times and blocks, without blocks
  bool grows() const { return first_blocks > 0 && last_blocks > kGrows * first_blocks; }
};

Place measure(const DeviceOps& ops, const std::vector<Kernels>& steps, std::size_t at) {
  Place place;
  const std::size_t third = steps.size() / 3;
  double blocks = 0;
  double ns = 0;
  const auto count = static_cast<double>(steps.size());
  auto blocks_of = [&](const Kernels& step) {
    return static_cast<double>(ops.blocks[step[at].value]);
  };
  auto ns_of = [&](const Kernels& step) {
    return static_cast<double>(ops.interval(step[at]).length().ns);
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    blocks += blocks_of(steps[i]) / count;
    ns += ns_of(steps[i]) / count;
    if (i < third) place.first_blocks += blocks_of(steps[i]) / static_cast<double>(third);
    if (i >= steps.size() - third)
      place.last_blocks += blocks_of(steps[i]) / static_cast<double>(third);
  }
  double both = 0;
  double square = 0;
  for (const Kernels& step : steps) {
    both += (blocks_of(step) - blocks) * (ns_of(step) - ns);
    square += std::pow(blocks_of(step) - blocks, 2);
  }
  place.without_ns = square > 0 ? ns - std::max(0.0, both / square) * blocks : ns;
  return place;
}

Proposal propose(const Predictor& predictor) {
  if (!predictor.analysis().program.is_inference()) return not_here("the program trains");
  const RuleContext context = rule_context(predictor);
  const StepTrend trend = find_step_trend(context);
  if (!trend.grows()) return not_here("step time does not grow");
  if (!trend.partition->device.valid()) return not_here("the steps run on a host thread");
  const std::vector<Kernels> steps = kernels_of_steps(context, *trend.partition);
  if (steps.size() < kTrendSteps) return not_here("kernels differ from step to step");
  const DeviceOps& ops = context.trace.device_ops;
  const auto least = static_cast<double>(shortest_kernel(ops).ns);
  Editor editor(predictor);
  std::int64_t places = 0;
  double all = 0;
  double growing = 0;
  double left = 0;
  for (std::size_t at = 0; at < steps.front().size(); ++at) {
    const Place place = measure(ops, steps, at);
    const double ns = std::max(least, place.without_ns);
    places += place.grows();
    for (const Kernels& step : steps) {
      const auto own = static_cast<double>(ops.interval(step[at]).length().ns);
      all += own;
      if (!place.grows()) continue;
      growing += own;
      left += std::min(own, ns);
      editor.set_op(step[at], {std::llround(std::min(own, ns))}, true);
    }
  }
  if (growing < kMost * all) return not_here("few kernels have a larger grid from step to step");
  const auto count = static_cast<double>(steps.size());
  return {true,
          fmt::format("the grids of {} of {} kernels grow from step to step; over one token they "
                      "take {} per step instead of {}",
                      places, steps.front().size(), format_duration({std::llround(left / count)}),
                      format_duration({std::llround(growing / count)})),
          editor.take()};
}

}  // namespace

const Fix kKeepKeysAndValues{
    "keep-keys-and-values",
    "Keep keys and values of earlier tokens",
    "step-growth",
    FixKind::kCeiling,
    0.1,
    "--kv-cache on",
    "Applies to inference whose kernels have larger grids from step to step. A line is fitted to a "
    "kernel's times and grids; each kernel takes the line's time at grid 0, at least that of the "
    "shortest kernel.",
    "whether each step makes one more token, and how long kernels take to read weights and the "
    "cache",
    propose};

}  // namespace headway::analyzer
