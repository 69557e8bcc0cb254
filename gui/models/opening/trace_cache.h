// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trace/snapshot/snapshot.h"
#include "trace/trace.h"

namespace headway::gui {

/// Snapshots of large traces in a folder of the user, so that the second opening need not read the
/// recording again. Never beside the recording. Best effort: on any failure the trace is read from
/// the recording. Several programs may use the folder at the same time.
class TraceCache {
 public:
  struct Limits {
    std::int64_t most_bytes = 8'000'000'000;
    std::int64_t spare_bytes = 4'000'000'000;  ///< free space that is left on the disk
    std::size_t least_events = 500'000;  ///< smaller traces are read in a fraction of a second
  };

  explicit TraceCache(std::filesystem::path folder) : TraceCache(std::move(folder), Limits()) {}
  TraceCache(std::filesystem::path folder, Limits limits);
  /// $XDG_CACHE_HOME/headway, else ~/.cache/headway; empty when there is neither.
  static std::filesystem::path default_folder();

  /// `why_not` is set if a snapshot existed but could not be used; that snapshot is removed.
  std::optional<trace::Trace> load(const trace::SnapshotKey& key, std::string& why_not) const;
  /// Stores a snapshot of a trace as it was loaded from the file with this key. False: it is not
  /// worth keeping, there is no room, the file has changed since, or `keep_going` returned false.
  bool store(const trace::Trace& trace, const trace::SnapshotKey& key,
             const std::function<bool()>& keep_going) const;

  std::filesystem::path file_of(const trace::SnapshotKey& key) const;

 private:
  bool make_room(std::int64_t bytes) const;

  std::filesystem::path folder_;
  Limits limits_;
};

}  // namespace headway::gui
