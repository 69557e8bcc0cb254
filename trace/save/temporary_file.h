// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headway::trace {

/// Checks that a file with this name may be made: there is none, or a regular file that may be
/// overwritten. Throws Error(kUsage) otherwise. A device, a pipe, a socket or a symbolic link is
/// never replaced, because a user who names one does not want it removed.
void check_replaceable(const std::filesystem::path& path, bool overwrite);

/// Sets an existing file, with its SQLite companions (log etc.), aside under another name in the same
/// folder, so that a new file can take its place. The destructor restores it unless `discard` was
/// called.
class SetAside {
 public:
  /// Throws as check_replaceable does; a missing file is no error.
  explicit SetAside(std::filesystem::path target);
  ~SetAside();
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

  /// To be called when the new file exists: removes the file that was set aside.
  void discard();

 private:
  std::filesystem::path target_;
  std::filesystem::path aside_;  ///< empty: nothing is set aside
};

/// A name beside `target` for a file that will replace it. Removes such files that killed programs
/// left: those that have not been written for long.
std::filesystem::path name_beside(const std::filesystem::path& target, std::string_view kind);

/// Renames a file, but never replaces one: false, with errno, when `to` exists.
bool rename_to_free(const std::string& from, const std::string& to);

/// Removes a file and the companions that SQLite makes while it is written.
void remove_with_companions(const std::filesystem::path& path);
void remove_companions(const std::filesystem::path& path);

/// A name beside `target` to write to. The file replaces the target when it is complete, so that the
/// target never holds half a file. Without commit(), the destructor removes it.
class TemporaryFile {
 public:
  /// Throws as check_replaceable does.
  TemporaryFile(std::filesystem::path target, bool overwrite);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Syncs the file to disk and renames it to the target. Throws Error(kInternal).
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool overwrite_;
};

}  // namespace headway::trace
