// SPDX-License-Identifier: MIT
// copy-not-overlapped: the device computes nothing while data is copied to it.
//
// Symptom: host-to-device copies on the compute stream, or on another one but with the next op
// waiting for them. Mechanism: a copy engine can work beside the compute units, but only on its own
// stream and only ahead of need. Formula: recoverable = h2d: time in which copies to the device are
// all that runs. Falsified by: copies that run under compute (they are counted as hidden and cost
// nothing). Known false positives: the copies of the first steps, which warm-up trimming drops.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/registry.h"
#include "analyzer/rules/support.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::string note(const RuleContext& context, const Segment& segment) {
  trace::DeviceOpId op{segment.cause.index};
  std::int64_t bytes = context.trace.device_ops.bytes[op.value];
  DurationNs time = context.trace.device_ops.interval(op).length();
  bool pageable = context.trace.device_ops.source_memory[op.value] == trace::MemoryKind::kPageable;
  if (bytes <= 0 || time.ns <= 0) return "copy to the device";
  return fmt::format(
      "{} at {}/s{}", format_bytes(bytes),
      format_bytes(static_cast<std::int64_t>(static_cast<double>(bytes) / time.seconds())),
      pageable ? " from pageable memory" : "");
}

/// True when copies to the device share a stream with kernels: then they cannot overlap, whatever
/// the timing.
bool shares_compute_stream(const RuleContext& context, const DevicePartition& device) {
  std::vector<bool> computes(context.trace.streams.size());
  std::vector<bool> copies(context.trace.streams.size());
  const trace::DeviceOps& ops = context.trace.device_ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (context.trace.streams[ops.stream[i].value].device != device.device) continue;
    if (ops.kind[i] == trace::DeviceOpKind::kKernel) computes[ops.stream[i].value] = true;
    if (ops.kind[i] == trace::DeviceOpKind::kCopyHostToDevice) copies[ops.stream[i].value] = true;
  }
  for (std::size_t s = 0; s < computes.size(); ++s) {
    if (computes[s] && copies[s]) return true;
  }
  return false;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare copy = worst_share(context, {TimeClass::kH2d});
  if (!copy.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (copy.share() < kFindingShare) {
    return fine(
        rule, fmt::format("Copies to the device are exposed {}; {} per step run under compute.",
                          of_step(copy.time, copy.step), format_duration(copy.device->hidden_h2d)));
  }
  bool shared = shares_compute_stream(context, *copy.device);
  Finding finding = found(rule, copy.time, context);
  finding.sub_cause = shared ? "compute-stream" : "late";
  finding.claim = fmt::format(
      "Copies to the device are all that runs for {}; {}.", of_step(copy.time, copy.step),
      shared ? "they share a stream with the kernels, so they cannot overlap"
             : "they have a stream of their own but start too late");
  finding.confidence = 0.95;
  finding.evidence = longest_segments(context, *copy.device, {TimeClass::kH2d}, note);
  finding.advice = {
      {"headway-train",
       "Copy the next batch on its own stream from pinned memory while this one computes.",
       "--h2d prefetch --pinned on",
       fmt::format("{} {}", setting(context.trace, "h2d"), setting(context.trace, "pinned"))},
      {"PyTorch",
       "Pin the batches and copy the next one on a side stream; keep weights on the device, or "
       "prefetch the next layer's.",
       "DataLoader(pin_memory=True), tensor.to(device, non_blocking=True) under "
       "torch.cuda.stream(copy_stream)",
       ""},
      {"TensorFlow/JAX", "Prefetch batches to the device.",
       "tf.data.experimental.prefetch_to_device / flax.jax_utils.prefetch_to_device(it, 2)", ""}};
  return finding;
}

}  // namespace

extern const Rule kCopyNotOverlapped = {
    "copy-not-overlapped", "Copies not overlapped",
    "Copies to the device that nothing covers, over 5 % of the step.", check};

}  // namespace headway::analyzer
