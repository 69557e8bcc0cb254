// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trace/trace.h"

namespace headway::trace {

/// The file, and its state, that a snapshot was taken of.
struct SnapshotKey {
  std::string path;  ///< absolute
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;

  bool operator==(const SnapshotKey&) const = default;
};

/// The key of a file in its present state; none when it cannot be read.
std::optional<SnapshotKey> snapshot_key(const std::filesystem::path& path);

/// Writes the columns of a trace in their memory layout, for the same version of Headway on the
/// same kind of machine: a cache, not an exchange format. The file (mode 0600) is renamed into
/// place when complete. Polls `keep_going`; when it returns false, stops and removes the file. Throws
/// Error when the disk refuses. Returns true when the file was written.
bool write_snapshot(const Trace& trace, const SnapshotKey& key, const std::filesystem::path& path,
                    const std::function<bool()>& keep_going);
/// Approximate number of bytes that write_snapshot needs.
std::int64_t snapshot_bytes(const Trace& trace);

/// Reads the snapshot of `key`. Trusts nothing: checks sizes, checksums, every id and every time,
/// so the trace is one that load() could return. None when the file is missing, has another key or
/// version, or is damaged; `why_not` gives the reason, and is empty when the file is missing.
std::optional<Trace> read_snapshot(const std::filesystem::path& path, const SnapshotKey& key,
                                   std::string& why_not);

}  // namespace headway::trace
