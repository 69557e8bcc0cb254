// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hardware/machine_facts.h"
#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A delay that the machine adds: as measured in this trace, else as known of the machine.
struct Delay {
  DurationNs p5;
  DurationNs p50;
  DurationNs p95;
  std::int64_t samples = 0;  ///< 0: too few in the trace, the values are from elsewhere
  std::int64_t seen = 0;     ///< instances in the trace, enough or not
  FactOrigin origin = FactOrigin::kRecording;
  std::string source;  ///< of values from elsewhere: "measured 2026-11-22 on NVIDIA H200"
};

/// The delays of one device.
struct DeviceDelays {
  Delay launch;        ///< λ: start of the launching call to start of the op, on an empty queue
  Delay graph_launch;  ///< the same for CUDA graphs
  Delay stream;        ///< ε: from op to op of a stream when the second was launched long before
  Delay sync;          ///< ρ: end of the awaited op to return of the blocking call
  Delay free;          ///< the same for cudaFree, which has its own work to do then
};

/// The delays that the edges' lags are made of, measured so that they fit the machine.
struct Calibration {
  std::vector<DeviceDelays> devices;  ///< by DeviceId
  Delay batch;                        ///< from the end of making a batch to the end of its wait
  Delay ready_batch;  ///< the wait for a batch that has arrived: the time to receive and map it
  std::vector<DurationNs>
      base_of_name;  ///< by call name: median duration of calls that did not wait
  /// What a blocking call itself costs, for names whose calls never returned at once.
  Delay blocking_call;
  bool blocking_call_used = false;

  /// λ in use: the least a launch takes (its 5th percentile).
  DurationNs launch(trace::DeviceId device) const { return devices[device.value].launch.p5; }
  DurationNs graph_launch(trace::DeviceId d) const { return devices[d.value].graph_launch.p5; }
  /// ε in use: the median.
  DurationNs stream(trace::DeviceId device) const { return devices[device.value].stream.p50; }
  /// ρ in use: the median.
  DurationNs sync(trace::DeviceId device) const { return devices[device.value].sync.p50; }
  DurationNs free(trace::DeviceId device) const { return devices[device.value].free.p50; }
};

/// Measures λ and ε. The other delays need the edges and are filled in by the graph. A delay
/// that the trace shows fewer than 20 times comes from `machine`, else it is one value for all machines.
Calibration calibrate_device_delays(const trace::Trace& trace, const MachineFacts& machine);

/// Percentiles of `samples` (reordered); `otherwise` when there are fewer than 20.
Delay delay_of(std::vector<std::int64_t>& samples, Delay otherwise);
/// The values of `known`; without it, `fallback` at all percentiles, with the source "default".
Delay delay_of(const std::optional<MachineFact>& known, DurationNs fallback);

}  // namespace headway::analyzer
