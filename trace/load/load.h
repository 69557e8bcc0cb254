// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>

#include "trace/trace.h"

namespace headway::trace {

struct LoadOptions {
  int threads = 0;  ///< 0: as many as the machine has, at most 8
  /// Called now and then on the loading thread with the share that is done, 0 to 1. What it throws
  /// ends the loading and comes out of `load`: the way to cancel.
  std::function<void(double)> progress = {};
};

/// Reads a trace file written by Headway, or an SQLite export of Nsight Systems with the same
/// tables, into memory. Bad rows are set aside and counted in `Trace::losses`; a file that cannot
/// be used throws Error(kBadInput) naming the file, what was found and what to do: missing, empty,
/// not SQLite, truncated, corrupt, neither of the two formats, a newer schema version. A trace
/// without events loads; whether that is an error is for the caller to say.
Trace load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace headway::trace
