// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/partition/partition.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The ops of one device in the order of their start.
struct DeviceWork {
  trace::DeviceId device;
  std::vector<trace::DeviceOpId> ops;
};
std::vector<DeviceWork> work_by_device(const trace::Trace& trace);

/// The class of a device op while it is the most important thing running.
TimeClass busy_class(const trace::Trace& trace, const Attribution& attribution,
                     trace::DeviceOpId op);

/// The device's busy time as disjoint segments in order of time; where ops overlap, the class that
/// comes first in TimeClass wins (compute over optimizer over communication over copies), and
/// within it the op that began first.
std::vector<Segment> busy_segments(const trace::Trace& trace, const Attribution& attribution,
                                   const DeviceWork& work);

}  // namespace headway::analyzer
