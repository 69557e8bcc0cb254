// SPDX-License-Identifier: MIT
// Sums of matrix products are split among more blocks, which run on multiprocessors that were idle.
#include <fmt/format.h>

#include <cmath>

#include "analyzer/evidence/product_waves.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least cost of a partial last wave, relative to a full one: blocks end at different times.
constexpr double kSoftWaves = 0.2;

class Splits {
 public:
  Splits(const Predictor& predictor, std::int32_t multiprocessors)
      : predictor_(predictor),
        rates_(predictor),
        least_(shortest_kernel(predictor.trace().device_ops)),
        grids_(predictor.trace(), predictor.analysis().attribution, multiprocessors) {}

  ProductGrid grid(DeviceOpId op) {
    const DeviceOps& ops = predictor_.trace().device_ops;
    if (ops.kind[op.value] != DeviceOpKind::kKernel ||
        predictor_.kernels().of(op).family != KernelFamily::kGemm)
      return {};
    ProductGrid grid = grids_.of(op);
    const KernelBound bound = bound_of(predictor_, op, rates_.of(op) * 1e9);
    grid.arithmetic_ns = bound.arithmetic_ns;
    grid.memory_ns = bound.memory_ns;
    return grid;
  }
  /// Splits the products that gain by it. `power`: cost of partial waves here; the decision itself
  /// uses another value.
  Scenario split(double power, std::int64_t& kernels, DurationNs& time) {
    const DeviceOps& ops = predictor_.trace().device_ops;
    Editor editor(predictor_);
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const DeviceOpId op{i};
      const DurationNs now = ops.interval(op).length();
      if (now <= least_) continue;
      const ProductGrid its = grid(op);
      if (!its.known() || !best_split(its).is_worth_it()) continue;
      ++kernels;
      time += now;
      const double left = best_split(its, power).left;
      editor.set_op(
          op, least_ + DurationNs{std::llround(left * static_cast<double>((now - least_).ns))},
          true);
    }
    return editor.take();
  }

 private:
  const Predictor& predictor_;
  ProductRates rates_;
  DurationNs least_;
  ProductGrids grids_;
};

Proposal propose(const Predictor& predictor) {
  const auto limits = limits_of_steps(predictor);
  if (!limits || limits->multiprocessors <= 0)
    return not_here("the device's multiprocessor count is unknown");
  Splits splits(predictor, limits->multiprocessors);
  const DeviceOps& ops = predictor.trace().device_ops;
  bool known = false;
  for (std::uint32_t i = 0; i < ops.size() && !known; ++i)
    known = splits.grid(DeviceOpId{i}).known();
  if (!known) return not_here("the grid sizes or sum lengths of matrix products are not recorded");
  std::int64_t kernels = 0;
  DurationNs time;
  Proposal proposal;
  proposal.scenario = splits.split(1, kernels, time);
  if (kernels == 0) return not_here("matrix products already fill the multiprocessors");
  proposal.applies = true;
  proposal.is_ceiling = true;  // splitting cannot do better than full waves
  proposal.text =
      fmt::format("the sums of {} matrix products ({} in total) are split among more blocks",
                  kernels, format_duration(time));
  std::int64_t same = 0;
  DurationNs again;
  proposal.otherwise.push_back(splits.split(kSoftWaves, same, again));
  return proposal;
}

}  // namespace

const Fix kSplitK{"split-k",
                  "Split matrix product sums among more blocks",
                  "gemm-efficiency",
                  FixKind::kModelled,
                  0.5,
                  "--split-k on",
                  "A product that leaves multiprocessors idle in its last wave gets two to sixteen "
                  "times the blocks, each with a partial sum of at least 128 terms. Beyond the "
                  "shortest kernel, it takes the longer of arithmetic and bytes, including 4-byte "
                  "partial results, divided by the filled share of multiprocessors.",
                  "the library's kernels, their efficiency, and uneven block ends",
                  propose};

}  // namespace headway::analyzer
