// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "trace/snapshot/snapshot.h"
#include "trace/trace.h"

namespace headway::gui {

/// What to open, and how.
struct TraceSource {
  /// Recordings; a folder or pattern stands for the recordings in it. Several are shown as one job.
  std::vector<std::filesystem::path> files;
  std::optional<Interval> stretch;     ///< read only the events that touch it
  std::filesystem::path cache_folder;  ///< folder of TraceCache; empty: no cache
  std::int64_t memory_bytes = 0;       ///< memory limit; 0: the machine's free memory
  /// Traces with fewer events are shown only once they are analysed: below half a million events
  /// the analysis takes a quarter of a second, so a first look is not worthwhile.
  std::size_t first_look_from = 500'000;
};

/// One recording of the shown trace.
struct TracePart {
  std::filesystem::path file;
  DurationNs shift;                 ///< added to its times in the shown trace
  std::uint32_t first_process = 0;  ///< index of its first process in the shown trace; its
                                    ///< processes are consecutive
};

/// A trace as read, before analysis.
struct ReadTrace {
  trace::Trace trace;
  std::vector<TracePart> parts = {};  ///< empty: the trace is a single recording
  bool from_cache = false;
  bool recording = false;  ///< the recorder was still writing
  /// Set if TraceCache::store may keep the trace: identifies the file as it was before reading.
  std::optional<trace::SnapshotKey> keep_as = {};
};

/// Reads a source. Throws TooLarge with a time range that fits if it does not fit into memory;
/// otherwise as trace::load. An exception of `progress` ends the reading and is passed on.
ReadTrace read_source(const TraceSource& source, const std::function<void(double)>& progress);

}  // namespace headway::gui
