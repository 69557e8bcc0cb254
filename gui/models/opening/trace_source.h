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
  /// Recordings; folders and patterns stand for those in them. Several are shown as one job.
  std::vector<std::filesystem::path> files;
  std::optional<Interval> stretch;     ///< read only the events that touch it
  std::filesystem::path cache_folder;  ///< of TraceCache; empty: without one
  std::int64_t memory_bytes = 0;       ///< most to take; 0: what the machine has to spare
  /// Traces with fewer events are shown when they are analysed: below half a million that takes a
  /// quarter of a second, not worth a picture before it.
  std::size_t first_look_from = 500'000;
};

/// One recording of what is shown.
struct TracePart {
  std::filesystem::path file;
  DurationNs shift;                 ///< by which its times are later in the trace that is shown
  std::uint32_t first_process = 0;  ///< of its processes there; they follow each other
};

/// A trace as it was read.
struct ReadTrace {
  trace::Trace trace;
  std::vector<TracePart> parts = {};  ///< empty: the trace is one
  bool from_cache = false;
  bool recording = false;  ///< the recorder was still writing
  /// Set for what TraceCache::store may keep: the file as it was before it was read.
  std::optional<trace::SnapshotKey> keep_as = {};
};

/// Reads a source. Throws TooLarge, naming a stretch that fits, when it does not fit into memory;
/// otherwise as trace::load. What `progress` throws ends the reading and comes out of it.
ReadTrace read_source(const TraceSource& source, const std::function<void(double)>& progress);

}  // namespace headway::gui
