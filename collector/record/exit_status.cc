// SPDX-License-Identifier: MIT
#include "collector/record/exit_status.h"

#include <sys/ioctl.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace headway::record {
namespace {

/// struct pidfd_info of Linux 6.15 in its first size; headers of older systems lack it.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kExit = 1U << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

std::optional<int> by_descriptor(int pidfd) {
  PidfdInfo info{};
  info.mask = kExit;
  if (pidfd < 0 || ::ioctl(pidfd, kGetInfo, &info) != 0 || !(info.mask & kExit))
    return std::nullopt;
  return info.exit_code;
}

/// From the last field of /proc/<pid>/stat, for a process whose parent has not called waitpid()
/// yet.
std::optional<int> by_proc(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  // The name, in parentheses, may contain anything.
  const std::size_t name_end = text.rfind(')');
  const std::size_t last = text.rfind(' ');
  if (name_end == std::string::npos || last < name_end || !text.substr(name_end).starts_with(") Z"))
    return std::nullopt;
  int status = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data() + last + 1, end, status).ec != std::errc()) return std::nullopt;
  return status;
}

}  // namespace

std::optional<int> exit_status_of(int pidfd, pid_t pid) {
  if (const std::optional<int> status = by_descriptor(pidfd)) return status;
  if (const std::optional<int> status = by_proc(pid)) return status;
  // The parent may have called waitpid() between the two attempts: then the descriptor has the
  // status.
  return by_descriptor(pidfd);
}

}  // namespace headway::record
