// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trace/trace.h"

namespace headway::trace {

/// The source file of a snapshot, and its state at that time.
struct SnapshotKey {
  std::string path;              ///< absolute
  std::int64_t bytes = 0;        ///< size of the file
  std::int64_t modified_ns = 0;  ///< UTC
  std::uint64_t inode = 0;
  std::uint64_t device = 0;  ///< file system of the inode

  bool operator==(const SnapshotKey&) const = default;
};

/// The key of a file in its present state; none if it is unreadable.
std::optional<SnapshotKey> snapshot_key(const std::filesystem::path& path);

/// Writes the columns of a trace in their memory layout, for the same version of Headway on the
/// same kind of machine: a cache, not an exchange format. The file (mode 0600) is renamed into
/// place when complete. Polls `keep_going`; if it returns false, stops and removes the file. Throws
/// Error on a failed write. Returns true if the file was written.
bool write_snapshot(const Trace& trace, const SnapshotKey& key, const std::filesystem::path& path,
                    const std::function<bool()>& keep_going);
/// Approximate number of bytes that write_snapshot needs.
std::int64_t snapshot_bytes(const Trace& trace);

/// Reads the snapshot of `key`. Checks sizes, checksums, every id and every time, so the trace is one
/// that load() could return. None if the file is missing, damaged, or has another key or version;
/// `why_not` gives the reason, and is empty if the file is missing.
std::optional<Trace> read_snapshot(const std::filesystem::path& path, const SnapshotKey& key,
                                   std::string& why_not);

}  // namespace headway::trace
