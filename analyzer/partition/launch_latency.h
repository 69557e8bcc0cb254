// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/partition/device_ops.h"
#include "analyzer/partition/gap_facts.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// How long a device needs, measured in this trace, so that thresholds fit the machine.
struct DeviceLatencies {
  DurationNs
      launch;  ///< p95 from the start of a launch to the start of its op, when the stream was empty
  DurationNs
      frontend;  ///< p95 between two ops of a stream when the second was launched long before
  DurationNs
      sync;  ///< p95 from the end of the last op to the return of the call that waited for it
};

DeviceLatencies measure_latencies(const GapFacts& facts, const DeviceWork& work);

}  // namespace headway::analyzer
