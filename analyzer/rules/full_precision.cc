// SPDX-License-Identifier: MIT
// full-precision: products run on tensor cores in TF32, and the work between them moves 32-bit
//   values.
//
// Symptom: matrix kernels on tensor cores whose names say TF32, few in half precision.
// Mechanism: TF32 reads and writes 32 bits; BF16 and FP16 need half the bytes and have twice the rate.
// Formula: the replay of half-precision alone, which models bytes and arithmetic. Without a
//   replay, the rule finds nothing: TF32 is the default of most programs and not a loss by itself.
// Falsified by: kernels dominated by launch and end; they take as long in any type.
// Known false positives: training that diverges in 16 bits. Products on general cores belong to
//   no-tensor-cores.
// Source: NVIDIA's mixed-precision training guide.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Products {
  DurationNs recoverable;  ///< in TF32
  DurationNs half;
};

Products measure(const RuleContext& context, const DevicePartition& device) {
  Products products;
  const std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        const KernelTraits traits = context.kernels.of(op);
        if (!is_matrix_work(traits.family)) return;
        if (is_half(traits.precision)) products.half += duration(context, op);
        if (traits.precision == Precision::kTf32) products.recoverable += duration(context, op);
      });
  if (steps == 0) return {};
  return {products.recoverable / steps, products.half / steps};
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, products] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (products.recoverable.ns == 0)
    return fine(rule, "No kernel name shows a TF32 matrix product.");
  if (products.half >= products.recoverable)
    return fine(rule, "Most matrix products run in half precision.");
  return fine(
      rule, fmt::format("TF32 matrix products: {}. `headway whatif` predicts the gain of 16 bits.",
                        of_step(context, products.recoverable, context.step)));
}

}  // namespace

extern const Rule kFullPrecision = {"full-precision", "32-bit numbers",
                                    "Matrix products run in TF32 and activations in 32 bits; 16 "
                                    "bits would save over 5 % of the step.",
                                    check};

}  // namespace headway::analyzer
