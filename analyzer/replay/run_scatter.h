// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/steps/range_names.h"
#include "analyzer/steps/steps.h"
#include "common/block_bootstrap.h"

namespace headway::analyzer {

/// Lengths of the steps of a run in the order of time, ns.
struct RunLengths {
  std::vector<double> steps;
  /// Parallel to `steps`: the part of each step that the program does on schedule (evaluation, checkpoints, a new epoch).
  std::vector<double> scheduled;
  /// The recording that the steps are from, and from when on its storage was warm. Reads before a stretch of it decide when
  /// the reads in the stretch end.
  const trace::Trace* trace = nullptr;
  TimeNs warm_from = TimeNs::min();
};

/// By step (index as in Steps::all): ns that come on schedule, by ranges that say so. Of several devices or threads the
/// one with the most counts.
std::vector<double> scheduled_times(const RangeNames& names, const Steps& steps,
                                    const std::vector<DevicePartition>& partitions);

/// bootstrap_mean() (common/block_bootstrap.h) of `values` that have a part on schedule. That part comes equally
/// often in the next run, so only its length differs by chance. `scheduled` is that part of each value; empty: there is none.
Bounds bootstrap_mean(std::span<const double> values, std::span<const double> scheduled,
                      const BlockPlan& plan);

}  // namespace headway::analyzer
