// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::trace {

struct LoadOptions {
  int threads = 0;  ///< 0: as many as the machine has, at most 8
  /// Called now and then on the loading thread with the share that is done, 0 to 1. What it throws
  /// ends the loading and comes out of `load`: the way to cancel.
  std::function<void(double)> progress = {};
  /// Reads only the events that touch this stretch of time; a loss says so. SQLite files only: throws
  /// Error(kUsage) for others.
  std::optional<Interval> stretch = {};
};

/// Reads a recording into memory: a file of Headway, an SQLite export of Nsight Systems, or the JSON
/// of PyTorch's profiler (plain, gzip or zip), told apart by their content. Bad rows are set aside
/// and counted in `Trace::losses`; a file that cannot be used throws Error(kBadInput) naming the
/// file, what was found and what to do: missing, empty, truncated, corrupt, none of the formats, a
/// newer schema version. A trace without events loads; whether that is an error is for the caller
/// to say.
Trace load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace headway::trace
