// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace headway::trace {

/// A name beside `target` to write to; the file takes the target's place when it is complete, so
/// that the target never holds half of it. Removed when an error leaves the scope before.
class TemporaryFile {
 public:
  /// Throws Error(kUsage) when `target` is a folder, or exists and may not be overwritten.
  TemporaryFile(std::filesystem::path target, bool overwrite);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Brings the file to the disk and renames it to the target. Throws Error(kInternal).
  void commit();

 private:
  void check_target() const;

  std::filesystem::path target_;
  std::filesystem::path path_;
  bool overwrite_;
};

}  // namespace headway::trace
