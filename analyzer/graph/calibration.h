// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A delay that the machine adds, as measured in this trace.
struct Delay {
  DurationNs p5;
  DurationNs p50;
  DurationNs p95;
  std::int64_t samples = 0;  ///< 0: too few in the trace, the values are defaults
};

/// The delays of one device.
struct DeviceDelays {
  Delay launch;        ///< λ: start of the launching call to start of the op, on an empty queue
  Delay graph_launch;  ///< the same for CUDA graphs
  Delay stream;        ///< ε: from op to op of a stream when the second was launched long before
  Delay sync;          ///< ρ: end of the awaited op to return of the blocking call
};

/// What the edges' lags are made of, measured so that they fit the machine.
struct Calibration {
  std::vector<DeviceDelays> devices;  ///< by DeviceId
  Delay batch;                        ///< from a batch being made to the wait for it ending
  std::vector<DurationNs>
      base_of_name;  ///< by call name: median duration of calls that did not wait

  /// λ in use: the least a launch takes (its 5th percentile).
  DurationNs launch(trace::DeviceId device) const { return devices[device.value].launch.p5; }
  DurationNs graph_launch(trace::DeviceId d) const { return devices[d.value].graph_launch.p5; }
  /// ε in use: the median.
  DurationNs stream(trace::DeviceId device) const { return devices[device.value].stream.p50; }
  /// ρ in use: the median.
  DurationNs sync(trace::DeviceId device) const { return devices[device.value].sync.p50; }
};

/// Measures λ and ε. The other delays need the edges and are filled in by the graph.
Calibration calibrate_device_delays(const trace::Trace& trace);

/// Percentiles of `samples` (reordered); `fallback` when there are fewer than 20.
Delay delay_of(std::vector<std::int64_t>& samples, DurationNs fallback);

}  // namespace headway::analyzer
