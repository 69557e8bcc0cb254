// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::trace {

struct LoadOptions {
  int threads = 0;  ///< 0: the number of the machine's processors, at most 8
  /// Called regularly on the loading thread with the share that is done, 0 to 1. To cancel, throw
  /// from it: the exception leaves `load`.
  std::function<void(double)> progress = {};
  /// Reads only the events that touch this time; a loss says so. Only for SQLite files: throws
  /// Error(kUsage) for others.
  std::optional<Interval> stretch = {};
};

/// Reads a recording into memory: a file of Headway, an SQLite export of Nsight Systems, or the JSON
/// of PyTorch's profiler (plain, gzip or zip), recognised by their content. Bad rows are set aside
/// and counted in `Trace::losses`. For a file that cannot be used it throws Error(kBadInput) that
/// names the file, what was found and what to do: missing, empty, truncated, corrupt, an unknown
/// format, a newer schema version. A trace without events loads; the caller decides whether that is
/// an error.
Trace load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace headway::trace
