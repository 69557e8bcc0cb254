// SPDX-License-Identifier: MIT
// host-round-trip: data goes from the device to the host and back while the device waits.
//
// Symptom: a copy to the host, host work, a copy to the device, with nothing launched in between.
// Mechanism: the CPU computes something from device data (indices, masks, sampling). Two copies, a
//   synchronisation and the host work lie on the critical path.
// Formula: two consecutive copies by one thread in one step: the first to the host with at least
//   64 bytes, the second to the device, issued after the first ended. Recoverable = from the start
//   of the first to the end of the second, minus device compute meanwhile.
// Falsified by: kernels of other streams that fill the time. If the host mostly makes input
//   meanwhile, the copy back is the next batch, and input-bound covers it.
// Known false positives: reading metrics, then sending the next batch. Scalars (under 64 bytes)
//   are excluded for this reason.
// Source: index building on the CPU in detection and recommendation models.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/round_trips.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using trace::DeviceOpId;
using trace::DeviceOpKind;

struct Trips {
  DurationNs recoverable;
  double trips = 0;
  std::int64_t bytes = 0;
  std::vector<Evidence> evidence;
};

/// Time in `where` during which kernels run on any stream of the device; overlaps count once.
DurationNs busy(const RuleContext& context, const DevicePartition& device, Interval where) {
  const trace::DeviceOps& ops = context.trace.device_ops;
  DurationNs sum;
  TimeNs reached = where.begin;
  auto i = static_cast<std::size_t>(
      std::lower_bound(ops.start.begin(), ops.start.end(), where.begin) - ops.start.begin());
  for (; i < ops.size() && ops.start[i] < where.end; ++i) {
    if (ops.kind[i] != DeviceOpKind::kKernel ||
        context.trace.streams[ops.stream[i].value].device != device.device)
      continue;
    TimeNs begin = std::max(reached, ops.start[i]);
    TimeNs end = std::min(where.end, ops.end[i]);
    if (end <= begin) continue;
    sum += end - begin;
    reached = end;
  }
  return sum;
}

Trips measure(const RuleContext& context, const DevicePartition& device) {
  Trips result;
  const trace::DeviceOps& ops = context.trace.device_ops;
  LongestEvidence longest;
  std::int64_t steps =
      for_each_round_trip(context, device, [&](DeviceOpId previous, DeviceOpId op) {
        Interval where{ops.start[previous.value], ops.end[op.value]};
        result.recoverable += where.length() - busy(context, device, where);
        result.trips += 1;
        result.bytes += ops.bytes[previous.value] + ops.bytes[op.value];
        if (!longest.wants(where.length())) return;
        trace::RangeId range = context.attribution.range_of[op.value];
        longest.add(
            where, previous,
            fmt::format("{} to the host, {} back{}", format_bytes(ops.bytes[previous.value]),
                        format_bytes(ops.bytes[op.value]),
                        range.valid()
                            ? fmt::format(" in '{}'", name_of(context.trace, EventRef::of(range)))
                            : ""));
      });
  if (steps == 0) return result;
  result.recoverable = result.recoverable / steps;
  result.trips /= static_cast<double>(steps);
  result.bytes /= steps;
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, trips] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no API calls, so the thread of each copy is unknown.");
  if (ratio(trips.recoverable, context.step) < kFindingShare)
    return fine(rule,
                fmt::format("Round trips through the host: {2} ({0:.1f} {1}).", trips.trips,
                            per_step(context), of_step(context, trips.recoverable, context.step)));
  Finding finding = found(rule, trips.recoverable, context);
  finding.claim = fmt::format(
      "Data goes to the host and straight back {:.1f} times {} ({}). The device waits {}.",
      trips.trips, per_step(context), format_bytes(trips.bytes),
      of_step(context, trips.recoverable, context.step));
  finding.confidence = 0.7;
  finding.evidence = std::move(trips.evidence);
  finding.advice = {
      {"headway-train", "Choose the loss anchors on the device.", "--coords device",
       settings(context.trace, {"coords"})},
      {"PyTorch",
       "Compute this on the device. For data-dependent sizes, use the maximum size and a mask.",
       "replace .cpu()/.numpy()/.tolist() and indexing with Python lists by tensor ops "
       "(torch.where, torch.topk, torch.searchsorted) on device='cuda'",
       ""},
      {"TensorFlow/JAX", "Keep the function inside the compiled program.",
       "tf.py_function/np_function → TensorFlow ops; jax.pure_callback → jax.numpy", ""}};
  return finding;
}

}  // namespace

extern const Rule kHostRoundTrip = {"host-round-trip", "Host round trip",
                                    "Round trips through the host take over 5 % of the step.",
                                    check};

}  // namespace headway::analyzer
