// SPDX-License-Identifier: MIT
#include "analyzer/evidence/unfilled_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/evidence/device_streams.h"

namespace headway::analyzer {
namespace {

/// Time to start a kernel, which does not depend on its blocks.
constexpr double kFixedNs = 3'000;
/// Share of the peak that large products reach, and of the bandwidth that large kernels reach.
constexpr double kOfPeak = 0.7;
constexpr double kOfBandwidth = 0.85;

ProductGrid grid_of(const RuleContext& context, trace::DeviceOpId op, const DeviceLimits& limits,
                    ProductGrids& grids) {
  ProductGrid grid = grids.of(op);
  const KernelTraits traits = context.kernels.of(op);
  const double peak = kOfPeak * limits.peak_flops(traits.math_unit, traits.precision);
  const auto flops = static_cast<double>(context.trace.device_ops.flops[op.value]);
  if (peak > 0) grid.arithmetic_ns = flops / peak * 1e9;
  if (limits.memory_bytes_per_second > 0)
    grid.memory_ns = grid.bytes / (kOfBandwidth * limits.memory_bytes_per_second) * 1e9;
  return grid;
}

}  // namespace

UnfilledProducts unfilled_products(const RuleContext& context, const DevicePartition& device) {
  UnfilledProducts result;
  const DeviceLimits limits = limits_of(context, device);
  if (limits.multiprocessors <= 0) return result;
  ProductGrids grids(context.trace, context.attribution, limits.multiprocessors);
  std::map<std::uint32_t, double> saved_by;  // by name
  double saved = 0;
  double most = 0;
  LongestEvidence longest;
  const std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (context.trace.device_ops.kind[op.value] != trace::DeviceOpKind::kKernel ||
            context.kernels.of(op).family != KernelFamily::kGemm)
          return;
        const ProductGrid grid = grid_of(context, op, limits, grids);
        if (!grid.known()) return;
        result.any_told = true;
        const SplitProduct split = best_split(grid);
        const DurationNs time = duration(context, op);
        const double gain =
            (1 - split.left) * std::max(0.0, static_cast<double>(time.ns) - kFixedNs);
        if (gain <= 0 || !split.is_worth_it()) return;
        saved += gain;
        result.time += time;
        result.kernels += 1;
        double& of_name = saved_by[context.trace.device_ops.name[op.value].value];
        of_name += gain;
        if (of_name > most) {
          most = of_name;
          result.worst = grid;
          result.split = split;
          result.example = op;
        }
        if (longest.wants(time))
          longest.add(
              context.trace.device_ops.interval(op), op,
              fmt::format("{} blocks on {} multiprocessors, sums of {:.0f} terms: {}", grid.blocks,
                          grid.multiprocessors, grid.depth, short_name(context, op)));
      });
  if (steps == 0) return result;
  result.recoverable = {static_cast<std::int64_t>(saved) / steps};
  result.time = result.time / steps;
  result.kernels /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

}  // namespace headway::analyzer
