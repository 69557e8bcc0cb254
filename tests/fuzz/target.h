// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace headway::test {

/// Inputs that were read to the end. A target whose seeds are all refused tests nothing.
inline std::size_t accepted = 0;

/// A file in memory where there is /dev/shm. Not a memfd: SQLite opens what a link in /proc points
/// to, which for those is no file.
class MemoryFile {
 public:
  MemoryFile()
      : path_(fmt::format("{}/headway_fuzz_{}",
                          std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp",
                          ::getpid())),
        file_(::open(path_.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~MemoryFile() {
    // With what SQLite has put beside it.
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((path_ + suffix).c_str());
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void fill(const std::uint8_t* data, std::size_t size) const {
    if (file_ < 0 || ::ftruncate(file_, 0) != 0) std::abort();
    if (::pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_;
};

/// The path of a file with these bytes, the same one each time.
inline const std::string& file_of(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.fill(data, size);
  return file.path();
}

}  // namespace headway::test
