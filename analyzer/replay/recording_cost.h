// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/replay/parts.h"

namespace headway::analyzer {

/// What recording added to a step, found from what a step takes without.
struct RecordingCost {
  DurationNs of_step;  ///< mean; zero: none, or not known
  double of_host = 0;  ///< share by which the host issued work more slowly
  /// By PartId: what lags are to be multiplied by for the run as it is without recording; empty: nothing.
  std::vector<double> factor;
};

/// What the host issues work in by this share less time: calls, and host work between them, but not that of loader workers. By
/// PartId.
std::vector<double> faster_host(std::span<const Part> parts, double share);

/// By which the host of a recorded GPU is likely to be slowed at most: up to 50 % were measured (docs/design/0084-unrecorded-steps.md). 0
/// where nothing says that a profiler of a GPU made the trace.
double likely_most_of_host(const trace::Trace& trace);

/// Recording slows the host: CUPTI writes records in calls of the device's API, hooks run between them, caches are shared with
/// both. Looks for the share by which calls and host work between them have to be shorter so that the replayed step is `wanted`
/// (ns). Where the device or the input decides the step sooner, it is no larger than that takes. `mean_step`: the replayed
/// step, ns, with lags multiplied by these factors.
RecordingCost find_recording_cost(
    std::span<const Part> parts, double wanted,
    const std::function<double(const std::vector<double>&)>& mean_step);

}  // namespace headway::analyzer
