// SPDX-License-Identifier: MIT
#include "trace/save/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "common/error.h"

namespace headway::trace {
namespace {

/// A file system that cannot do it (EINVAL) still has the data; a failing disk is an error.
void sync(const std::filesystem::path& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (code == EIO || code == ENOSPC)
    fail_internal("{}: cannot be written: {}.", path.string(), system_error_text(code));
}

}  // namespace

TemporaryFile::TemporaryFile(std::filesystem::path target, bool overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
  check_target();
  path_ = fmt::format("{}.tmp-{:08x}", target_.string(), std::random_device{}());
}

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  std::error_code ignored;
  // An SQLite file has companions while it is written.
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(path_.string() + suffix, ignored);
}

void TemporaryFile::check_target() const {
  std::error_code ignored;
  if (std::filesystem::is_directory(target_, ignored))
    fail_usage("{}: is a folder; -o takes the name of the file to write.", target_.string());
  if (!overwrite_ && std::filesystem::exists(target_, ignored))
    fail_usage("{}: already exists. Use --force to overwrite it, or -o for another name.",
               target_.string());
}

void TemporaryFile::commit() {
  sync(path_);
  check_target();  // somebody may have made it since
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) fail_internal("{}: cannot be written: {}.", target_.string(), error.message());
  path_.clear();
  sync(target_.has_parent_path() ? target_.parent_path() : std::filesystem::path("."));
}

}  // namespace headway::trace
