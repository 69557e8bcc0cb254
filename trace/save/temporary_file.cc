// SPDX-License-Identifier: MIT
#include "trace/save/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <string_view>
#include <system_error>

#include "common/error.h"

namespace headway::trace {
namespace {

/// Syncs a file. A file system that does not support fsync (EINVAL) still has the data; a failing
/// disk is an error.
void sync(const std::filesystem::path& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (code == EIO || code == ENOSPC)
    fail_internal("{}: cannot write: {}.", path.string(), system_error_text(code));
}

std::string_view kind_of(std::filesystem::file_type type) {
  switch (type) {
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      return "a device";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    case std::filesystem::file_type::symlink:
      return "a symbolic link";
    default:
      return "not a regular file";
  }
}

/// Suffixes of the file itself, which comes first, and its companions.
constexpr std::array<const char*, 4> kWithCompanions = {"", "-wal", "-shm", "-journal"};
constexpr std::string_view kNew = "new";
constexpr std::string_view kTemporary = "tmp";
constexpr std::string_view kOld = "old";

/// Removes old "new" and "tmp" files of `target`. A "new" file normally gets its name within
/// milliseconds, and a "tmp" file is written all the time. Files set aside ("old") are a user's
/// traces and stay.
void remove_leftovers(const std::filesystem::path& target) {
  const std::string name = target.filename().string();
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::filesystem::directory_iterator
           entry(target.has_parent_path() ? target.parent_path() : ".", error),
       end;
       !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    const bool is_new = other.starts_with(fmt::format("{}.{}-", name, kNew));
    if (!is_new && !other.starts_with(fmt::format("{}.{}-", name, kTemporary))) continue;
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_uid != ::geteuid())
      continue;
    std::error_code ignored;
    const auto age = now - std::filesystem::last_write_time(entry->path(), ignored);
    if (!ignored && age > (is_new ? std::chrono::minutes(1) : std::chrono::minutes(60)))
      std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace

std::filesystem::path name_beside(const std::filesystem::path& target, std::string_view kind) {
  remove_leftovers(target);
  return fmt::format("{}.{}-{:08x}", target.string(), kind, std::random_device{}());
}

bool rename_to_free(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system does not support RENAME_NOREPLACE: check before renaming.
  if (::access(to.c_str(), F_OK) != 0) return ::rename(from.c_str(), to.c_str()) == 0;
  errno = EEXIST;
  return false;
}

void check_replaceable(const std::filesystem::path& path, bool overwrite) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail_usage("{}: is a folder; -o expects a file name.", path.string());
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_regular_file(status))
    fail_usage("{}: is {}, which Headway never replaces. Choose another name with -o.",
               path.string(), kind_of(status.type()));
  if (!overwrite)
    fail_usage("{}: already exists. Use --force to overwrite it, or -o for another name.",
               path.string());
}

void remove_with_companions(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  remove_companions(path);
}

void remove_companions(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* suffix : kWithCompanions)
    if (*suffix) std::filesystem::remove(path.string() + suffix, ignored);
}

SetAside::SetAside(std::filesystem::path target) : target_(std::move(target)) {
  check_replaceable(target_, true);
  std::error_code ignored;
  if (!std::filesystem::exists(target_, ignored)) return;
  aside_ = name_beside(target_, kOld);
  for (const char* suffix : kWithCompanions) {
    if (rename_to_free(target_.string() + suffix, aside_.string() + suffix) || *suffix) continue;
    const int code = errno;
    aside_.clear();
    fail_internal("{}: cannot replace: {}. Choose another place with -o.", target_.string(),
                  system_error_text(code));
  }
}

SetAside::~SetAside() {
  if (aside_.empty()) return;
  // The log first: a file without its log would lack the rows written last.
  for (std::size_t i = kWithCompanions.size(); i-- > 0;)
    rename_to_free(aside_.string() + kWithCompanions[i], target_.string() + kWithCompanions[i]);
}

void SetAside::discard() {
  if (!aside_.empty()) remove_with_companions(aside_);
  aside_.clear();
}

TemporaryFile::TemporaryFile(std::filesystem::path target, bool overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
  check_replaceable(target_, overwrite_);
  path_ = name_beside(target_, kTemporary);
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) remove_with_companions(path_);
}

void TemporaryFile::commit() {
  sync(path_);
  check_replaceable(target_, overwrite_);  // another program may have made it since
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) fail_internal("{}: cannot write: {}.", target_.string(), error.message());
  path_.clear();
  sync(target_.has_parent_path() ? target_.parent_path() : std::filesystem::path("."));
}

}  // namespace headway::trace
