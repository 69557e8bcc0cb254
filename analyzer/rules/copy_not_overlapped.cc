// SPDX-License-Identifier: MIT
// copy-not-overlapped: the device computes nothing during copies to it.
//
// Symptom: host-to-device copies on the compute stream, or on another stream with the next op
//   waiting for them.
// Mechanism: a copy engine works beside the compute units only on a separate stream and ahead of
//   need. Weights on the host, fetched for each use, occupy the link all the time.
// Formula: recoverable = h2d: time in which only copies to the device run. The copies count as
//   weights if a step has 16 or more copies of 1 MB or more, or, without steps, if copies of 16 MB
//   on average take half of the span.
// Falsified by: copies that run under compute (they are counted as hidden and cost nothing).
// Known false positives: copies of the first steps, which are dropped as warm-up.
// Source: pinned memory, non-blocking copies and prefetching to the device in every framework's guide.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kDeviceOp) return "copy to the device";
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

/// True if copies to the device share a stream with kernels: then they can never overlap.
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

struct Traffic {
  double large_copies = 0;  ///< of 1 MB or more, per step
  double bytes = 0;         ///< per step
  double mean_bytes = 0;    ///< of a copy of 1 MB or more
};

Traffic traffic_of(const RuleContext& context, const DevicePartition& device) {
  constexpr std::int64_t kLargeCopy = 1'000'000;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::int64_t large = 0;
  double large_bytes = 0;
  double bytes = 0;
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (ops.kind[op.value] != trace::DeviceOpKind::kCopyHostToDevice) return;
        auto size = static_cast<double>(ops.bytes[op.value]);
        bytes += size;
        if (ops.bytes[op.value] < kLargeCopy) return;
        ++large;
        large_bytes += size;
      });
  Traffic traffic;
  auto per = static_cast<double>(std::max<std::int64_t>(1, steps));
  traffic.large_copies = static_cast<double>(large) / per;
  traffic.bytes = bytes / per;
  if (large) traffic.mean_bytes = large_bytes / static_cast<double>(large);
  return traffic;
}

/// True if the copies are probably weights: a batch comes in a few pieces, weights come in many.
bool looks_like_weights(const RuleContext& context, const ClassShare& copy,
                        const Traffic& traffic) {
  constexpr double kManyCopies = 16;
  constexpr double kBigPieces = 16e6;
  if (!context.steps.all.empty()) return traffic.large_copies >= kManyCopies;
  return traffic.large_copies >= kManyCopies && traffic.mean_bytes >= kBigPieces &&
         copy.share() >= 0.5;
}

std::vector<Advice> weights_advice() {
  return {{"headway-train", "Keep the weights on the device. A smaller batch makes room.",
           "--batch N", ""},
          {"PyTorch",
           "Keep weights on the device: quantise, shard, or shrink the model. If they must stay on "
           "the host, prefetch the next layer on a separate stream.",
           "no device_map='auto' or cpu_offload for weights that fit; accelerate/FSDP "
           "cpu_offload=False; prefetching hooks with torch.cuda.Stream()",
           ""},
          {"TensorFlow/JAX", "Keep parameters on the device; shard them over several if needed.",
           "jax.device_put with a NamedSharding; no memory_kind='pinned_host' for parameters", ""}};
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare copy = worst_share(context, {TimeClass::kH2d});
  if (!copy.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (copy.share() < kFindingShare) {
    return fine(rule, fmt::format("Exposed copies to the device: {0}; {1} {2} overlap compute.",
                                  of_step(context, copy.time, copy.step),
                                  format_duration(copy.device->hidden_h2d), per_step(context)));
  }
  bool shared = shares_compute_stream(context, *copy.device);
  Traffic traffic = traffic_of(context, *copy.device);
  bool weights = looks_like_weights(context, copy, traffic);
  Finding finding = found(rule, copy.time, context);
  finding.sub_cause = weights ? "weights" : shared ? "compute-stream" : "late";
  finding.claim = fmt::format("Only copies to the device run for {}: {}.",
                              of_step(context, copy.time, copy.step),
                              shared ? "they share a stream with kernels and cannot overlap"
                                     : "they have their own stream but start too late");
  if (weights) {
    finding.claim += fmt::format(
        " {:.0f} large copies with {} {} are too many for batches: weights or activations travel "
        "from the host repeatedly.",
        traffic.large_copies, format_bytes(static_cast<std::int64_t>(traffic.bytes)),
        per_step(context));
  }
  finding.confidence = 0.95;
  finding.evidence = longest_segments(context, *copy.device, {TimeClass::kH2d}, note);
  if (weights) {
    finding.advice = weights_advice();
    return finding;
  }
  finding.advice = {
      {"headway-train", "Copy the next batch on its own stream from pinned memory during compute.",
       "--h2d prefetch --pinned on", settings(context.trace, {"h2d", "pinned"})},
      {"PyTorch",
       "Pin the batches and copy the next one on a side stream. Keep weights on the device, or "
       "prefetch the next layer.",
       "DataLoader(pin_memory=True), tensor.to(device, non_blocking=True) under "
       "torch.cuda.stream(copy_stream)",
       ""},
      {"TensorFlow/JAX", "Prefetch batches to the device.",
       "tf.data.experimental.prefetch_to_device / flax.jax_utils.prefetch_to_device(it, 2)", ""}};
  return finding;
}

}  // namespace

extern const Rule kCopyNotOverlapped = {"copy-not-overlapped", "Copies not overlapped",
                                        "Exposed copies to the device take over 5 % of the step.",
                                        check};

}  // namespace headway::analyzer
