// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/replay/parts.h"

namespace headway::analyzer {

/// What recording added to a step, found from the step time without recording.
struct RecordingCost {
  DurationNs of_step;  ///< mean; zero: none, or not known
  double of_host = 0;  ///< share by which the host issued work more slowly
  /// By PartId: factors for lags that give the run without recording; empty: no change.
  std::vector<double> factor;
};

/// Factors by PartId for a host that issues work in less time, by `share`: calls and the host work between them, but not that
/// of loader workers.
std::vector<double> faster_host(std::span<const Part> parts, double share);

/// The largest share by which recording is likely to slow the host of a GPU: up to 50 % was measured
/// (docs/design/0084-unrecorded-steps.md). 0 unless the trace says that a GPU profiler made it.
double likely_most_of_host(const trace::Trace& trace);

/// Recording slows the host: CUPTI writes records in calls of the device's API, hooks run between them, caches are shared with
/// both. Looks for the share by which calls and host work between them have to be shorter so that the replayed step is `wanted`
/// (ns). Where the device or the input decides the step before that, the share is only as large as needed for that.
/// `mean_step`: the replayed step, ns, with lags multiplied by these factors.
RecordingCost find_recording_cost(
    std::span<const Part> parts, double wanted,
    const std::function<double(const std::vector<double>&)>& mean_step);

}  // namespace headway::analyzer
