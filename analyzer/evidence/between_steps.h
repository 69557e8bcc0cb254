// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "analyzer/model/between_cause.h"
#include "analyzer/partition/partition.h"

namespace headway::analyzer {

/// What the program does in most of the time between steps that these steps of `partition` have.
const BetweenCauseInfo& main_between_cause(const trace::Trace& trace,
                                           const DevicePartition& partition,
                                           std::span<const DeviceStep* const> steps);

}  // namespace headway::analyzer
