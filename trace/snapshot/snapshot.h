// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trace/trace.h"

namespace headway::trace {

/// Which state of which file a snapshot is of.
struct SnapshotKey {
  std::string path;  ///< absolute
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;

  bool operator==(const SnapshotKey&) const = default;
};

/// The key of a file as it is now; none when it cannot be told.
std::optional<SnapshotKey> snapshot_key(const std::filesystem::path& path);

/// Writes the columns of a trace as they lie in memory, to be read back by the same version of
/// Headway on the same kind of machine: a cache, not an exchange format. The file (mode 0600) takes
/// its name when it is complete. Calls `keep_going` now and then and gives up, leaving nothing, when
/// it says false. Throws Error when the disk refuses. True: written.
bool write_snapshot(const Trace& trace, const SnapshotKey& key, const std::filesystem::path& path,
                    const std::function<bool()>& keep_going);
/// Bytes that write_snapshot will need, near enough.
std::int64_t snapshot_bytes(const Trace& trace);

/// Reads a snapshot of `key`. Believes nothing: sizes, checksums, every id and every time are
/// checked, so that the trace is one that load() could have made. None when there is no such file,
/// it is of another key or version, or it is damaged; `why_not` then says so in words, and is empty
/// when there is simply none.
std::optional<Trace> read_snapshot(const std::filesystem::path& path, const SnapshotKey& key,
                                   std::string& why_not);

}  // namespace headway::trace
