// SPDX-License-Identifier: MIT
// Copies from and to pageable memory use pinned memory instead: the device copies by itself, at
// the link's rate, and the call returns at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/evidence/links.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::int64_t kLargeCopy = 1'000'000;
/// From this size in bytes on, most of a copy's time is for its bytes.
constexpr std::int64_t kNoSmallCopy = 32'768;
/// A CPU copies into pinned memory at several times this rate, bytes/s; slower copies wait for the
/// link.
constexpr double kStagingRate = 1e9;
/// Fixed time of a copy if the recording has no small copies.
constexpr DurationNs kCopyLatency{1'500};

/// A direction between host and device.
struct Direction {
  double pinned = 0;  ///< bytes/s
  double pageable =
      0;  ///< bytes/s of the recorded ones, 0 without large ones: the link gives at least that
  DurationNs latency;       ///< of a copy without bytes
  DurationNs issue{5'000};  ///< of the call that only issues a copy
  bool known = false;       ///< measured, here or by `headway calibrate`
  bool slow = false;        ///< slower than staging: the rate of the recorded pageable copies
};

bool is_pageable(const DeviceOps& ops, std::uint32_t op) {
  const bool to_device = ops.kind[op] == DeviceOpKind::kCopyHostToDevice;
  if (!to_device && ops.kind[op] != DeviceOpKind::kCopyDeviceToHost) return false;
  return (to_device ? ops.source_memory : ops.destination_memory)[op] == MemoryKind::kPageable;
}

HostLink host_link(const Predictor& predictor) {
  const DeviceId device = predictor.analysis().partitions[predictor.steps().partition].device;
  return host_link_of(device.valid() ? predictor.trace().devices[device.value].name : "");
}

Direction measure(const Predictor& predictor, DeviceOpKind direction) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  Direction link;
  DurationNs shortest{INT64_MAX};
  double pageable_bytes = 0;
  double pageable_seconds = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != direction) continue;
    const DurationNs length = ops.interval(DeviceOpId{i}).length();
    if (ops.bytes[i] < 4096) shortest = std::min(shortest, length);
    if (is_pageable(ops, i) && ops.bytes[i] >= kNoSmallCopy) {
      pageable_bytes += static_cast<double>(ops.bytes[i]);
      pageable_seconds += length.seconds();
    }
    if (is_pageable(ops, i) || ops.bytes[i] < kLargeCopy || length.ns <= 0) continue;
    link.pinned = std::max(link.pinned, static_cast<double>(ops.bytes[i]) / length.seconds());
  }
  link.latency = shortest.ns == INT64_MAX ? kCopyLatency : shortest;
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  const MachineFigure figure = direction == DeviceOpKind::kCopyHostToDevice
                                   ? MachineFigure::kToDevicePinned
                                   : MachineFigure::kFromDevicePinned;
  if (link.pinned <= 0 && partition.device.valid()) {
    if (auto measured = predictor.machine().of(trace.devices[partition.device.value], figure))
      link.pinned = measured->value.p50;
  }
  link.known = link.pinned > 0;
  if (link.known) return link;
  link.pageable = pageable_seconds > 0 ? pageable_bytes / pageable_seconds : 0;
  link.slow = link.pageable > 0 && link.pageable < kStagingRate;
  link.pinned = link.slow ? link.pageable : host_link(predictor).bytes_per_s;
  return link;
}

struct Sums {
  std::int64_t copies = 0;
  std::int64_t bytes = 0;
};

Scenario pinned(const Predictor& predictor, const Direction& to_device, const Direction& to_host,
                Sums& sums) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  sums = {};
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!is_pageable(ops, i)) continue;
    const bool up = ops.kind[i] == DeviceOpKind::kCopyHostToDevice;
    const Direction& link = up ? to_device : to_host;
    const auto moving = std::llround(static_cast<double>(std::max<std::int64_t>(0, ops.bytes[i])) /
                                     link.pinned * 1e9);
    editor.set_op(DeviceOpId{i},
                  std::min(ops.interval(DeviceOpId{i}).length(), link.latency + DurationNs{moving}),
                  true);
    ++sums.copies;
    sums.bytes += std::max<std::int64_t>(0, ops.bytes[i]);
    // The host needs data that comes back, so the call still waits for it.
    const CallId call = ops.call[i];
    if (!up || !call.valid() || trace.calls.kind[call.value] == DeviceCallKind::kCopyBlocking)
      continue;
    editor.remove_edges(end_of(points.task(call)), EdgeKind::kHostSync);
    editor.set_duration(points.task(call),
                        std::min(link.issue, trace.calls.interval(call).length()), true);
  }
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  Direction to_device = measure(predictor, DeviceOpKind::kCopyHostToDevice);
  Direction to_host = measure(predictor, DeviceOpKind::kCopyDeviceToHost);
  Sums sums;
  Scenario scenario = pinned(predictor, to_device, to_host, sums);
  if (sums.copies == 0) return not_here("no copy is known to use pageable memory");
  Proposal proposal{
      true,
      fmt::format("{} copies of {} on average use pinned memory, at {}/s{}", sums.copies,
                  format_bytes(sums.bytes / sums.copies),
                  format_bytes(static_cast<std::int64_t>(to_device.pinned)),
                  to_device.known  ? ""
                  : to_device.slow ? " (unchanged: the link is slower than the processor's copy)"
                                   : fmt::format(" (rate of {}: no pinned copy was recorded)",
                                                 host_link(predictor).label)),
      std::move(scenario)};
  bool may_be_slow = false;
  for (Direction* link : {&to_device, &to_host}) {
    if (link->known || link->pageable <= 0 || link->slow) continue;
    link->pinned = std::min(link->pinned, link->pageable);
    may_be_slow = true;
  }
  if (may_be_slow) proposal.otherwise.push_back(pinned(predictor, to_device, to_host, sums));
  return proposal;
}

}  // namespace

const Fix kPinnedCopies{
    "pinned-copies",
    "Copy from pinned memory",
    "pageable-copy",
    FixKind::kModelled,
    0.2,
    "--pinned on",
    "Pageable copies take their bytes at the pinned rate: recorded, else calibrated, else "
    "that of the newest PCIe slot which the device takes. Recorded copies below 1 GB/s indicate a "
    "slow link, which stays; if the link rate is "
    "unknown, the interval includes it. Calls that issue copies to the device return at once.",
    "whether the program has another reason to wait for the copy",
    propose};

}  // namespace headway::analyzer
