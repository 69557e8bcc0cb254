// SPDX-License-Identifier: MIT
// Copies from and to pageable memory use pinned memory: the device makes them by itself, at the link's rate, and the
// call returns at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::int64_t kLargeCopy = 1'000'000;
/// From here on a copy is mostly its bytes.
constexpr std::int64_t kNoSmallCopy = 32'768;
/// PCIe 3.0 x16, bytes/s.
constexpr double kLeastPinnedRate = 12e9;
/// A processor copies into pinned memory at several times this rate, bytes/s: what goes slower waits for the link.
constexpr double kStagingRate = 1e9;
/// What a copy takes besides its bytes, where the recording has no small ones.
constexpr DurationNs kCopyLatency{1'500};

/// A direction between host and device.
struct Link {
  double pinned = 0;        ///< bytes/s
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

Link link_of(const Predictor& predictor, DeviceOpKind direction) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  Link link;
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
  const double pageable = pageable_seconds > 0 ? pageable_bytes / pageable_seconds : 0;
  link.slow = pageable > 0 && pageable < kStagingRate;
  link.pinned = link.slow ? pageable : kLeastPinnedRate;
  return link;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Points& points = predictor.program().graph().points();
  const Link to_device = link_of(predictor, DeviceOpKind::kCopyHostToDevice);
  const Link to_host = link_of(predictor, DeviceOpKind::kCopyDeviceToHost);
  Editor editor(predictor);
  std::int64_t copies = 0;
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!is_pageable(ops, i)) continue;
    const bool up = ops.kind[i] == DeviceOpKind::kCopyHostToDevice;
    const Link& link = up ? to_device : to_host;
    const auto moving = std::llround(static_cast<double>(std::max<std::int64_t>(0, ops.bytes[i])) /
                                     link.pinned * 1e9);
    editor.set_op(DeviceOpId{i},
                  std::min(ops.interval(DeviceOpId{i}).length(), link.latency + DurationNs{moving}),
                  true);
    ++copies;
    bytes += std::max<std::int64_t>(0, ops.bytes[i]);
    // What comes back is wanted: the call goes on waiting for it.
    const CallId call = ops.call[i];
    if (!up || !call.valid() || trace.calls.kind[call.value] == DeviceCallKind::kCopyBlocking)
      continue;
    editor.remove_edges(end_of(points.task(call)), EdgeKind::kHostSync);
    editor.set_duration(points.task(call),
                        std::min(link.issue, trace.calls.interval(call).length()), true);
  }
  if (copies == 0) return not_here("no copy is known to use pageable memory");
  return {true,
          fmt::format("{} copies of {} on average use pinned memory, at {}/s{}", copies,
                      format_bytes(bytes / copies),
                      format_bytes(static_cast<std::int64_t>(to_device.pinned)),
                      to_device.known  ? ""
                      : to_device.slow ? " (as now: the link is slower than the processor's copy)"
                                       : " (PCIe 3.0 x16: no pinned copy was recorded)"),
          editor.take()};
}

}  // namespace

const Fix kPinnedCopies{"pinned-copies",
                        "Copy from pinned memory",
                        "pageable-copy",
                        FixKind::kModelled,
                        0.2,
                        "--pinned on",
                        "Copies between the device and pageable memory take what their bytes take "
                        "at the rate of pinned ones: "
                        "recorded, else calibrated, else that of PCIe 3.0 x16, unless the recorded "
                        "ones are slower than 1 GB/s: then the link is, and stays; the calls that "
                        "issue copies to the device return "
                        "at once.",
                        "whether the program must wait for the copy for another reason",
                        propose};

}  // namespace headway::analyzer
