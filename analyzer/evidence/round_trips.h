// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Calls `visit(to_host, to_device)` for each round trip in a steady step: two copies that one
/// thread enqueues with nothing in between, the first of at least 64 bytes to the host, the second
/// to the device and issued after the first ended. If the device waits for input for most of that
/// time, the second copy is the next batch and does not count. Returns the number of steady steps.
std::int64_t for_each_round_trip(
    const RuleContext& context, const DevicePartition& device,
    const std::function<void(trace::DeviceOpId, trace::DeviceOpId)>& visit);

}  // namespace headway::analyzer
