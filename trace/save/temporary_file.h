// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headway::trace {

/// A file of this name may be made: nothing is there, or a regular file that may be overwritten.
/// Throws Error(kUsage) otherwise. A device, a pipe, a socket or a symbolic link is never replaced:
/// whoever named it did not mean that it should be gone.
void check_replaceable(const std::filesystem::path& path, bool overwrite);

/// The file that stands where a new one is to be begun, with the companions that SQLite gives it: set
/// aside under another name of the same folder, and back in its place unless `discard` says that the
/// new one has begun.
class SetAside {
 public:
  /// Throws as check_replaceable does; nothing to set aside is no error.
  explicit SetAside(std::filesystem::path target);
  ~SetAside();
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

  /// The new file has begun: what was set aside is removed.
  void discard();

 private:
  std::filesystem::path target_;
  std::filesystem::path aside_;  ///< empty: nothing is aside
};

/// A name beside `target` for a file on its way to it. Others of that kind that were left behind by
/// killed programs, because nobody has written to them for long, are removed.
std::filesystem::path name_beside(const std::filesystem::path& target, std::string_view kind);

/// Renames, but never over a file: false, with errno, when there is one.
bool rename_to_free(const std::string& from, const std::string& to);

/// Removes a file and the companions that SQLite gives it while it is written.
void remove_with_companions(const std::filesystem::path& path);
void remove_companions(const std::filesystem::path& path);

/// A name beside `target` to write to; the file takes the target's place when it is complete, so
/// that the target never holds half of it. Removed when an error leaves the scope before.
class TemporaryFile {
 public:
  /// Throws as check_replaceable does.
  TemporaryFile(std::filesystem::path target, bool overwrite);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Brings the file to the disk and renames it to the target. Throws Error(kInternal).
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool overwrite_;
};

}  // namespace headway::trace
