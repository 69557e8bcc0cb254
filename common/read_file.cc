// SPDX-License-Identifier: MIT
#include "common/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/format.h"

namespace headway {
namespace {

/// A file descriptor that is closed at the end of the scope; negative if the file cannot be opened.
class Opened {
 public:
  // Non-blocking, because opening a pipe would wait for a writer.
  explicit Opened(const std::string& name)
      : fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t most,
                      std::string_view expected) {
  const std::string name = path.string();
  const Opened file(name);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
    fail_input("{}: {}. {}", name, system_error_text(errno), expected);
  if (S_ISDIR(info.st_mode)) fail_input("{}: is a folder. {}", name, expected);
  if (!S_ISREG(info.st_mode)) fail_input("{}: is not a regular file. {}", name, expected);
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text;
  // One byte more than the stated size: a file may grow, and files in /proc state 0.
  for (text.resize(std::min(size, most) + 1);;) {
    std::size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_input("{}: cannot read: {}. {}", name, system_error_text(errno), expected);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    if (size > most || filled > most)
      fail_input("{}: is larger than {}, too large for its kind. {}", name,
                 format_bytes(static_cast<std::int64_t>(most)), expected);
    const bool whole = filled < text.size();
    text.resize(filled);
    if (whole) return text;
    text.resize(most + 1);
    if (::lseek(file.get(), 0, SEEK_SET) != 0)
      fail_input("{}: changed during reading. {}", name, expected);
  }
}

}  // namespace headway
