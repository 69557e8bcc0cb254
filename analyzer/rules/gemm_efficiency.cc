// SPDX-License-Identifier: MIT
// gemm-efficiency: matrix products use narrow loads because a dimension is not a multiple of 16
//   bytes, or leave multiprocessors idle because their results have too few tiles or a partial
//   last wave.
//
// Symptom: tensor-core GEMM kernels whose names show an alignment below 16 bytes: align1, align2,
//   align4 of halves, align1 and align2 of TF32. Or GEMM kernels with long sums and fewer blocks
//   than multiprocessors, or a nearly empty last wave.
// Mechanism: rows of a matrix begin every k or n elements. If this is not a multiple of 16 bytes,
//   a thread cannot load 16 bytes at once. The library then selects a slower kernel with 2-, 4- or
//   8-byte loads.
// Formula: per kernel, recoverable = d - max(5 us + (d - 5 us) x share, bytes / bandwidth), share = 1/3 with accesses of 2 bytes, 1/2
//   with 4, 3/4 with 8. The first is published of an odd vocabulary, the others lie between it and 1.
//   A product of b blocks on m multiprocessors takes ceil(b / m) waves and uses b / m of them. With each sum split in s
//   parts (split-k) there are s x b blocks, and a partial result is written and read for each: recoverable =
//   (d - 3 us) x (1 - left), left by the larger of arithmetic and bytes over the filled share, the best of s = 2, 4, 8, 16 with
//   at least 128 terms a part; kernels that would keep over 90 % do not count. The larger of both causes is the finding.
// Falsified by: products bound by memory or launch latency, which are independent of alignment.
//   Kernels of other streams that fill the idle multiprocessors.
// Known false positives: a library that selects the narrow kernel for aligned shapes because of a
//   misaligned pointer; stream-k kernels, whose grid is one wave on purpose (they have as many
//   blocks as multiprocessors, so the rule stays silent).
// Source: NVIDIA, "Matrix Multiplication Background User's Guide": tile and wave quantization; NVIDIA/cutlass, issue 75: most
//   kernels for tensor cores want accesses of 128 bits; Netflix on an odd vocabulary that tripled the time of the last layer.
#include <fmt/format.h>

#include <map>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/product_alignment.h"
#include "analyzer/evidence/support.h"
#include "analyzer/evidence/unfilled_products.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kFixedNs = 5'000;

struct Narrow {
  DurationNs recoverable;
  DurationNs time;
  double kernels = 0;
  bool any_told = false;    ///< at least one product's name has an alignment
  trace::DeviceOpId worst;  ///< of the op that loses most
  int bytes = 0;            ///< of an access of `worst`
  std::vector<Evidence> evidence;
};

double time_if_aligned(double ns, int access, std::int64_t bytes, const DeviceLimits& limits) {
  double left =
      std::min(ns, kFixedNs) + std::max(0.0, ns - kFixedNs) * share_of_aligned_rate(access);
  if (limits.memory_bytes_per_second > 0)
    left = std::max(left, static_cast<double>(bytes) / limits.memory_bytes_per_second * 1e9);
  return std::min(ns, left);
}

Narrow measure(const RuleContext& context, const DevicePartition& device) {
  Narrow result;
  const trace::DeviceOps& ops = context.trace.device_ops;
  const DeviceLimits limits = limits_of(context, device);
  std::map<std::uint32_t, double> saved_of;  // by op of the model
  double saved = 0;
  double most = 0;
  LongestEvidence longest;
  const std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (ops.kind[op.value] != trace::DeviceOpKind::kKernel) return;
        const std::string_view name = context.trace.strings[ops.name[op.value]];
        const int access = access_bytes(name, context.kernels.of(op));
        result.any_told |= access > 0;
        if (access == 0 || access >= kWholeAccess) return;
        const auto ns = static_cast<double>(duration(context, op).ns);
        const double gain = ns - time_if_aligned(ns, access, ops.bytes[op.value], limits);
        saved += gain;
        result.time += duration(context, op);
        result.kernels += 1;
        double& of_op = saved_of[context.attribution.op_of[op.value].value];
        of_op += gain;
        if (of_op > most) {
          most = of_op;
          result.worst = op;
          result.bytes = access;
        }
        if (longest.wants(duration(context, op)))
          longest.add(ops.interval(op), op,
                      fmt::format("reads {} bytes at once: {}", access, short_name(context, op)));
      });
  if (steps == 0) return result;
  result.recoverable = {static_cast<std::int64_t>(saved) / steps};
  result.time = result.time / steps;
  result.kernels /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

/// "; most in head: pad 50257 to 50304", as far as the recording shows it.
std::string where(const RuleContext& context, const Narrow& narrow) {
  const auto op = context.attribution.op_of[narrow.worst.value];
  std::string text;
  if (op.value != 0) text = fmt::format("; mostly {}", context.attribution.ops[op.value].name);
  const std::vector<BadExtent> extents =
      bad_extents(context.trace, context.attribution, narrow.worst,
                  element_bytes(context.kernels.of(narrow.worst).precision));
  for (std::size_t i = 0; i < extents.size(); ++i)
    text +=
        fmt::format("{}{}{} (next: {})", i == 0 ? (text.empty() ? "; extents " : ", with ") : "",
                    i == 0 ? "" : " and ", extents[i].extent, extents[i].padded);
  return text;
}

Finding unfilled(const Rule& rule, const RuleContext& context, UnfilledProducts products) {
  Finding finding = found(rule, products.recoverable, context);
  const ProductGrid& worst = products.worst;
  finding.claim = fmt::format(
      "{:.0f} matrix products {} take {} with too few blocks for all multiprocessors. The largest "
      "is '{}': {} blocks on {} multiprocessors ({:.2f} waves), each a sum of {:.0f} terms. "
      "Split-k with {} or more parts would save about {}.",
      products.kernels, per_step(context), of_step(context, products.time, context.step),
      short_name(context, products.example), worst.blocks, worst.multiprocessors,
      static_cast<double>(worst.blocks) / worst.multiprocessors, worst.depth, products.split.parts,
      format_duration(products.recoverable));
  finding.sub_cause = "split-k";
  finding.confidence = 0.6;
  finding.evidence = std::move(products.evidence);
  finding.advice = {{"headway-train", "Split the sums of small products.", "--split-k on",
                     settings(context.trace, {"split_k"})},
                    {"PyTorch",
                     "Let an autotuner choose tiles and split-k, or choose a batch or feature size "
                     "that fills whole waves.",
                     "torch.compile(model, mode='max-autotune'); torch.cuda.tunable.enable()", ""},
                    {"TensorFlow/JAX", "Let the autotuner try all algorithms, including split-k.",
                     "XLA_FLAGS=--xla_gpu_autotune_level=4", ""}};
  return finding;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, narrow] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  auto [filled, products] = worst_device(context, [&](const DevicePartition& d, const KernelWork&) {
    return unfilled_products(context, d);
  });
  if (products.recoverable > narrow.recoverable &&
      ratio(products.recoverable, context.step) >= kFindingShare)
    return unfilled(rule, context, std::move(products));
  if (!narrow.any_told)
    return cannot_tell(rule, "No tensor-core kernel name shows how its operands are aligned.");
  if (ratio(narrow.recoverable, context.step) < kFindingShare)
    return fine(
        rule, fmt::format("Matrix products with loads under 16 bytes: {}; alignment would save {}.",
                          of_step(context, narrow.time, context.step),
                          format_duration(narrow.recoverable)));
  Finding finding = found(rule, narrow.recoverable, context);
  finding.claim = fmt::format(
      "{:.0f} matrix products {} take {} with loads under 16 bytes, because their rows are "
      "misaligned{}. Aligned, they would take about {} less.",
      narrow.kernels, per_step(context), of_step(context, narrow.time, context.step),
      where(context, narrow), format_duration(narrow.recoverable));
  finding.confidence = 0.6;
  finding.evidence = std::move(narrow.evidence);
  finding.advice = {{"headway-train", "Use feature sizes that are multiples of 64.", "--features",
                     settings(context.trace, {"features"})},
                    {"PyTorch",
                     "Pad vocabulary, features and sequence lengths to a multiple of 64 (at least "
                     "8 halves or 4 floats). Exclude the padding from the loss.",
                     "model.resize_token_embeddings(n, pad_to_multiple_of=64); "
                     "DataCollatorWithPadding(…, pad_to_multiple_of=8)",
                     ""},
                    {"TensorFlow/JAX", "Pad vocabulary and features to the next multiple of 64.",
                     "tf.pad(…), jnp.pad(…) of the weights", ""}};
  return finding;
}

}  // namespace

extern const Rule kGemmEfficiency = {"gemm-efficiency", "Matrix products waste the device",
                                     "Products on tensor cores in kernels that read less than 16 "
                                     "bytes at once, or products whose blocks leave "
                                     "multiprocessors without work, where aligned extents or "
                                     "split-k would save over 5 % of the step.",
                                     check};

}  // namespace headway::analyzer
