// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "trace/import/source/source.h"

namespace headway::trace::import_detail {
namespace {

/// Uses read(), not mmap: it is as fast here (docs/design/0020), its pages do not count as this
/// process's memory, and a file that shrinks while it is read ends the text, not the program.
class PlainSource : public Source {
 public:
  explicit PlainSource(const std::filesystem::path& path) : name_(path.string()) {
    fd_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) {
      int code = errno;
      fail_input("{}: cannot read: {}.", name_, system_error_text(code));
    }
    struct stat info {};
    if (::fstat(fd_, &info) == 0) size_ = info.st_size;
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~PlainSource() override { ::close(fd_); }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      ssize_t got = ::read(fd_, to + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        int code = errno;
        fail_input("{}: cannot read at byte {}: {}.", name_, offset_, system_error_text(code));
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      offset_ += got;
    }
    return done;
  }
  double fraction() const override {
    return size_ > 0 ? std::min(1.0, static_cast<double>(offset_) / static_cast<double>(size_)) : 1;
  }

 private:
  std::string name_;
  int fd_ = -1;
  std::int64_t size_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_plain(const std::filesystem::path& path) {
  return std::make_unique<PlainSource>(path);
}

}  // namespace headway::trace::import_detail
