// SPDX-License-Identifier: MIT
// pageable-copy: copies between device and ordinary (pageable) host memory.
//
// Symptom: "asynchronous" copies that block the calling thread, at a fraction of the link's rate.
// Mechanism: the device reaches only pinned memory, so the driver copies through a pinned buffer,
//   piece by piece, while the caller waits. Nothing overlaps.
// Formula: recoverable = exposed time of pageable copies x (1 - their rate / the pinned rate) +
//   idle device time while the launching thread was in such a copy. The pinned rate is that of
//   pinned copies of 1 MB and more in this trace, else what the newest PCIe slot that the device
//   takes gives. If the memory kind is not recorded: copies of 1 MB and more at under 6 GB/s.
// Falsified by: copies at the link's rate (the memory was pinned), small copies (below 64 KB the
//   driver buffers them and returns).
// Known false positives: several devices that share one link; slots slower than the device's.
// Source: the CUDA best-practices guide on pinned memory.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/links.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using trace::DeviceOpKind;
using trace::MemoryKind;

constexpr std::int64_t kLargeCopy = 1'000'000;
constexpr double kFarBelow = 6e9;  // bytes/s

bool crosses(DeviceOpKind kind) {
  return kind == DeviceOpKind::kCopyHostToDevice || kind == DeviceOpKind::kCopyDeviceToHost;
}

MemoryKind host_memory(const trace::DeviceOps& ops, std::size_t i) {
  return ops.kind[i] == DeviceOpKind::kCopyHostToDevice ? ops.source_memory[i]
                                                        : ops.destination_memory[i];
}

/// Totals over all copies between host and device: counts, known memory kinds and rates.
struct Copies {
  std::int64_t count = 0;
  std::int64_t known = 0;     ///< those whose memory is known
  double pinned_rate = 0;     ///< of the fastest recorded, else the slot's
  std::string_view slot;      ///< the slot of that rate; empty if pinned copies were recorded
  double suspect_rate = 0;    ///< of pageable copies; if the memory kind is unknown, of large ones
  std::vector<bool> suspect;  ///< per device op
};

Copies judge_copies(const trace::Trace& trace) {
  const trace::DeviceOps& ops = trace.device_ops;
  Copies copies;
  copies.suspect.resize(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!crosses(ops.kind[i])) continue;
    ++copies.count;
    copies.known += host_memory(ops, i) != MemoryKind::kUnknown;
    double seconds = (ops.end[i] - ops.start[i]).seconds();
    if (host_memory(ops, i) == MemoryKind::kPinned && ops.bytes[i] >= kLargeCopy && seconds > 0)
      copies.pinned_rate =
          std::max(copies.pinned_rate, static_cast<double>(ops.bytes[i]) / seconds);
  }
  if (copies.pinned_rate == 0) {
    const HostLink link = host_link_of(trace.devices.empty() ? "" : trace.devices[0].name);
    copies.pinned_rate = link.bytes_per_s;
    copies.slot = link.label;
  }
  std::int64_t bytes = 0;
  DurationNs time;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!crosses(ops.kind[i]) || ops.bytes[i] <= 0) continue;
    DurationNs length = ops.end[i] - ops.start[i];
    bool slow = ops.bytes[i] >= kLargeCopy &&
                static_cast<double>(ops.bytes[i]) < kFarBelow * length.seconds();
    copies.suspect[i] = copies.known ? host_memory(ops, i) == MemoryKind::kPageable : slow;
    if (!copies.suspect[i]) continue;
    bytes += ops.bytes[i];
    time += length;
  }
  if (time.ns > 0) copies.suspect_rate = static_cast<double>(bytes) / time.seconds();
  return copies;
}

struct Cost {
  const DevicePartition* device = nullptr;
  DurationNs exposed;  ///< per steady step
  DurationNs waiting;
  DurationNs step;
  std::vector<Segment> segments;
};

/// The copy that causes a segment; none if its cause is something else.
trace::DeviceOpId copy_of(const trace::Trace& trace, const Segment& segment) {
  if (segment.cause.kind == EventRef::Kind::kDeviceOp)
    return segment.time_class == TimeClass::kH2d || segment.time_class == TimeClass::kD2hOther
               ? trace::DeviceOpId{segment.cause.index}
               : trace::DeviceOpId::none();
  return segment.cause.kind == EventRef::Kind::kCall ? trace.calls.op[segment.cause.index]
                                                     : trace::DeviceOpId::none();
}

Cost cost_of(const RuleContext& context, const DevicePartition& device, const Copies& copies) {
  Cost cost;
  cost.device = &device;
  cost.step = device.per_steady_step.total();
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      trace::DeviceOpId copy = copy_of(context.trace, segment);
      if (!copy.valid() || !copies.suspect[copy.value]) continue;
      bool busy = segment.cause.kind == EventRef::Kind::kDeviceOp;
      (busy ? cost.exposed : cost.waiting) += segment.interval.length();
      cost.segments.push_back(segment);
    }
  }
  cost.exposed = cost.exposed / device.steady_steps;
  cost.waiting = cost.waiting / device.steady_steps;
  return cost;
}

std::vector<Evidence> evidence(const RuleContext& context, Cost& cost) {
  std::stable_sort(
      cost.segments.begin(), cost.segments.end(),
      [](const Segment& a, const Segment& b) { return a.interval.length() > b.interval.length(); });
  if (cost.segments.size() > 12) cost.segments.resize(12);
  std::vector<Evidence> list;
  for (const Segment& segment : cost.segments) {
    trace::DeviceOpId copy = copy_of(context.trace, segment);
    list.push_back(
        {segment.interval, EventRef::of(copy),
         fmt::format("a copy of {} in {}", format_bytes(context.trace.device_ops.bytes[copy.value]),
                     format_duration(context.trace.device_ops.interval(copy).length()))});
  }
  return list;
}

std::vector<Advice> advice(const RuleContext& context) {
  return {{"headway-train", "Pin the batches' memory and copy on a separate stream.",
           "--pinned on --h2d prefetch", settings(context.trace, {"pinned", "h2d"})},
          {"PyTorch", "Pin the batches, then copy without blocking.",
           "DataLoader(pin_memory=True), tensor.to(device, non_blocking=True)",
           settings(context.trace, {"pin_memory"})},
          {"TensorFlow/JAX", "Let the framework stage batches on the device before the step.",
           "tf.data prefetch_to_device; jax.device_put with a pinned_host memory kind", ""}};
}

Finding check(const Rule& rule, const RuleContext& context) {
  Copies copies = judge_copies(context.trace);
  Cost worst;
  DurationNs recoverable;
  double slower = 1 - std::min(1.0, copies.suspect_rate / copies.pinned_rate);
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || !device.device.valid()) continue;
    Cost cost = cost_of(context, device, copies);
    DurationNs gain =
        cost.waiting +
        DurationNs{static_cast<std::int64_t>(static_cast<double>(cost.exposed.ns) * slower)};
    if (!worst.device || ratio(gain, cost.step) > ratio(recoverable, worst.step)) {
      worst = std::move(cost);
      recoverable = gain;
    }
  }
  if (!worst.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (copies.count == 0) return fine(rule, "No copies between host and device.");
  if (ratio(recoverable, worst.step) < kFindingShare) {
    ClassShare exposed = worst_share(context, {TimeClass::kH2d, TimeClass::kD2hOther});
    if (copies.known == 0 && exposed.share() >= kFindingShare) {
      return cannot_tell(
          rule,
          "Copies are exposed, and the trace does not show whether their memory is pinned. Record "
          "with CUPTI's copy records (Nsight Systems, the PyTorch profiler, `headway record`).");
    }
    return fine(rule,
                fmt::format("Pageable copies: {}.", of_step(context, recoverable, worst.step)));
  }
  Finding finding = found(rule, recoverable, context);
  finding.sub_cause = copies.known ? "pageable" : "slow";
  finding.claim = fmt::format(
      "Copies {} run at {}/s; pinned memory reaches {}/s{}. The slower copies and the waits for "
      "them "
      "cost {}.",
      copies.known ? "from or to pageable memory" : "(of unknown host memory)",
      format_bytes(static_cast<std::int64_t>(copies.suspect_rate)),
      format_bytes(static_cast<std::int64_t>(copies.pinned_rate)),
      copies.slot.empty() ? "" : fmt::format(" in a full slot ({})", copies.slot),
      of_step(context, recoverable, worst.step));
  finding.confidence = copies.known ? 0.85 : 0.5;
  finding.evidence = evidence(context, worst);
  finding.advice = advice(context);
  return finding;
}

}  // namespace

extern const Rule kPageableCopy = {
    "pageable-copy", "Pageable copies",
    "Pageable copies, or copies far slower than pinned ones, cost over 5 % of the step.", check};

}  // namespace headway::analyzer
