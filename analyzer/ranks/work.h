// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/partition/partition.h"
#include "analyzer/ranks/rank_summary.h"

namespace headway::analyzer {

/// Fills RankStep::work with the amount of work in each step's batch: the arithmetic of its device
/// ops where the trace has it, else the elements of the input shapes of the ops that launched them.
/// `steps` are those of `partition`, in order. Returns what was counted.
WorkMeasure add_work(const trace::Trace& trace, const Attribution& attribution,
                     const DevicePartition& partition, std::vector<RankStep>& steps);

/// Elements of all tensors of a shapes text: "[[32, 1024], [1024], []]" -> 32768 + 1024 + 1.
/// Empty brackets are scalars. -1 for a text that is not a list of shapes.
std::int64_t elements_of_shapes(std::string_view shapes);

std::string_view work_label(WorkMeasure measure);  ///< "floating-point operations", …

}  // namespace headway::analyzer
