// SPDX-License-Identifier: MIT
// unfused-attention: attention as separate kernels that pass the score matrix through memory.
//
// Symptom: a GEMM, scaling and masking, softmax, dropout, and another GEMM, one after another, in each layer.
// Mechanism: the scores are length x length per head, and each kernel between the two GEMMs reads
//   and writes all of them. A fused kernel keeps them on the chip.
// Formula: a softmax kernel between two GEMMs on its stream, with only memory-bound kernels in
//   between (at most 8 on each side). Recoverable = all time between the two GEMMs; the fused
//   kernel needs the GEMMs' time.
// Falsified by: short sequences, where a fused kernel is no faster; masks that no fused kernel supports.
// Known false positives: a softmax over classes between two GEMMs, as in mixtures of experts.
// Source: FlashAttention; PyTorch's scaled_dot_product_attention.
#include <fmt/format.h>

#include "analyzer/evidence/attention_kernels.h"
#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Unfused {
  DurationNs recoverable;
  double places = 0;
  double kernels = 0;
  std::vector<Evidence> evidence;
};

Unfused measure(const RuleContext& context, const DevicePartition& device, const KernelWork& work) {
  Unfused result;
  if (work.of(KernelFamily::kSoftmax).ns == 0 || work.of(KernelFamily::kGemm).ns == 0)
    return result;
  LongestEvidence longest;
  std::int64_t steps = for_each_stream(
      context, device, [&](const DeviceStep&, std::span<const trace::DeviceOpId> ops) {
        std::size_t counted_to = 0;  // two softmaxes between the same GEMMs count once
        for (std::size_t i = 0; i < ops.size(); ++i) {
          if (i < counted_to || context.kernels.of(ops[i]).family != KernelFamily::kSoftmax)
            continue;
          std::size_t first = product_beside(context.kernels, ops, i, -1);
          std::size_t last = product_beside(context.kernels, ops, i, +1);
          if (first == ops.size() || last == ops.size()) continue;
          for (std::size_t k = first + 1; k < last; ++k)
            result.recoverable += duration(context, ops[k]);
          result.places += 1;
          result.kernels += static_cast<double>(last - first + 1);
          counted_to = last;
          Interval where{context.trace.device_ops.start[ops[first].value],
                         context.trace.device_ops.end[ops[last].value]};
          if (longest.wants(where.length()))
            longest.add(
                where, ops[i],
                fmt::format("{} kernels from GEMM through softmax to GEMM", last - first + 1));
        }
      });
  if (steps == 0) return result;
  result.recoverable = result.recoverable / steps;
  result.places /= static_cast<double>(steps);
  result.kernels /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, unfused] = worst_device(
      context,
      [&](const DevicePartition& d, const KernelWork& w) { return measure(context, d, w); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs fused;
  DurationNs all;
  DurationNs unknown;
  for (const KernelWork& work : context.work) {
    fused = std::max(fused, work.of(KernelFamily::kAttention));
    all += work.compute();
    unknown += work.of(KernelFamily::kUnknown);
  }
  if (ratio(unfused.recoverable, context.step) < kFindingShare) {
    if (all.ns == 0 || ratio(unknown, all) > 0.5)
      return cannot_tell(rule, "Most kernel names are unknown.");
    return fine(rule, fmt::format("Softmax between GEMMs: {}; fused attention: {}.",
                                  of_step(context, unfused.recoverable, context.step),
                                  format_duration(fused)));
  }
  Finding finding = found(rule, unfused.recoverable, context);
  finding.claim = fmt::format(
      "Attention runs as separate kernels in {:.0f} places {} ({:.0f} kernels). The kernels "
      "between their GEMMs take {}; a fused kernel keeps this data on the chip.",
      unfused.places, per_step(context), unfused.kernels,
      of_step(context, unfused.recoverable, context.step));
  finding.confidence = 0.75;
  finding.evidence = std::move(unfused.evidence);
  finding.advice = {
      {"headway-train", "Run attention as one kernel.", "--fused-attention on",
       settings(context.trace, {"fused_attention", "window"})},
      {"PyTorch",
       "Call the fused operator. Its flash path needs half precision and contiguous heads. For "
       "shifted windows, use fused window attention.",
       "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=…); for Hugging Face "
       "models attn_implementation='sdpa' or 'flash_attention_2'",
       ""},
      {"TensorFlow/JAX", "Use the library's fused attention.",
       "jax.nn.dot_product_attention(q, k, v, implementation='cudnn'); "
       "keras.layers.MultiHeadAttention(flash_attention=True)",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kUnfusedAttention = {"unfused-attention", "Unfused attention",
                                       "Separate kernels around softmax take over 5 % of the step.",
                                       check};

}  // namespace headway::analyzer
