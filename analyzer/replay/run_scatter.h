// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/steps/range_names.h"
#include "analyzer/steps/steps.h"
#include "common/block_bootstrap.h"

namespace headway::analyzer {

/// Steps of a run in the order of time, ns.
struct RunLengths {
  std::vector<double> steps;
  /// Beside `steps`: what each of them holds that the program does on schedule (evaluation, checkpoints, a new epoch).
  std::vector<double> scheduled;
  /// The recording that they are of, with when its storage was warm: reads before a stretch of it decide when those in it end.
  const trace::Trace* trace = nullptr;
  TimeNs warm_from = TimeNs::min();
};

/// What steps hold that comes on schedule, by ranges that say so; indexes as in Steps::all. The device or thread counts
/// that has most of it.
std::vector<double> scheduled_times(const RangeNames& names, const Steps& steps,
                                    const std::vector<DevicePartition>& partitions);

/// bootstrap_mean() (common/block_bootstrap.h) of `values` that have a part on schedule: it comes as often in the next
/// run, so what it takes may differ by chance, and not how often it comes. `scheduled` is the part of each; empty: none has any.
Bounds bootstrap_mean(std::span<const double> values, std::span<const double> scheduled,
                      const BlockPlan& plan);

}  // namespace headway::analyzer
