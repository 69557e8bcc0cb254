// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Calls `visit(to_host, to_device)` for each two copies of a steady step that one thread enqueues one right after
/// the other: at least 64 bytes to the host, and, issued after that has ended, something to the device. What the host
/// mostly makes input between is the next batch and no trip. Returns the number of steady steps.
std::int64_t for_each_round_trip(
    const RuleContext& context, const DevicePartition& device,
    const std::function<void(trace::DeviceOpId, trace::DeviceOpId)>& visit);

}  // namespace headway::analyzer
