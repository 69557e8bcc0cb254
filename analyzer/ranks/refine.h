// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/ranks/job.h"
#include "trace/subset.h"

namespace headway::analyzer {

/// Splits the exposed communication of a rank's partitions into transfer and `straggler_wait`, as
/// combine() did in the rank's summary, down to the segments. Steps still sum exactly.
void refine_partitions(const JobAnalysis& job, std::uint32_t rank, const trace::Trace& trace,
                       const Attribution& attribution, const Steps& steps,
                       std::vector<DevicePartition>& partitions);

/// The same for the partitions of all ranks in one trace. `kept`: per rank its rows in `whole`.
void refine_partitions_of_all(const JobAnalysis& job, const std::vector<trace::KeptRows>& kept,
                              const trace::Trace& whole, const Attribution& attribution,
                              const Steps& steps, std::vector<DevicePartition>& partitions);

}  // namespace headway::analyzer
