// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/kernels/communication.h"
#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The device's time over the whole trace, without looking at the host (definitions:
/// docs/reference/device-view.md). compute + exposed_comm + exposed_copy + idle = span.
struct DeviceView {
  trace::DeviceId device;
  DurationNs span;          ///< first start to last end of its ops
  DurationNs compute;       ///< union of kernels that are not communication, and memsets
  DurationNs exposed_comm;  ///< communication outside compute
  DurationNs exposed_copy;  ///< copies outside compute and communication
  DurationNs idle;
  DurationNs comm;     ///< union of communication
  DurationNs overlap;  ///< communication under compute
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t memsets = 0;
};

/// True for collectives and peer transfers: by op kind, else by the kernel's mechanism (NCCL, RCCL,
/// NVSHMEM).
bool is_communication(const trace::Trace& trace, trace::DeviceOpId op);

std::vector<DeviceView> device_views(const trace::Trace& trace);
/// The same for callers that already have `communication`.
std::vector<DeviceView> device_views(const trace::Trace& trace,
                                     const CommunicationOps& communication);

}  // namespace headway::analyzer
