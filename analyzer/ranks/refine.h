// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/ranks/job.h"

namespace headway::analyzer {

/// Splits the exposed communication of a rank's partitions into transfer and `straggler_wait`, as
/// combine() did in the rank's summary, down to the segments. Steps still sum exactly.
void refine_partitions(const JobAnalysis& job, std::uint32_t rank, const trace::Trace& trace,
                       const Attribution& attribution, const Steps& steps,
                       std::vector<DevicePartition>& partitions);

}  // namespace headway::analyzer
