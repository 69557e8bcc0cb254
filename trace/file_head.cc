// SPDX-License-Identifier: MIT
#include "trace/file_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"

namespace headway::trace {

std::string read_head(const std::filesystem::path& path, std::size_t most) {
  std::string name = path.string();
  struct stat info {};
  if (::stat(name.c_str(), &info) != 0) {
    int code = errno;
    fail_input("{}: {}. Expected a trace file; `headway record --help` shows how to record one.",
               name, system_error_text(code));
  }
  if (S_ISDIR(info.st_mode)) fail_input("{}: is a folder; expected one trace file.", name);
  if (!S_ISREG(info.st_mode)) fail_input("{}: is not a regular file; expected a trace file.", name);
  int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    int code = errno;
    fail_input("{}: cannot read: {}.", name, system_error_text(code));
  }
  std::string head(most, '\0');
  ssize_t got = ::pread(fd, head.data(), head.size(), 0);
  int code = errno;
  ::close(fd);
  if (got < 0) fail_input("{}: cannot read: {}.", name, system_error_text(code));
  if (got == 0)
    fail_input(
        "{}: is empty (0 bytes); expected a trace file. Was the recording interrupted before it "
        "began?",
        name);
  head.resize(static_cast<std::size_t>(got));
  return head;
}

}  // namespace headway::trace
