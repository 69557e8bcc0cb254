// SPDX-License-Identifier: MIT
#include "trace/load/live.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace headway::trace {
namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Ticks from the boot until the process started; empty when there is no such process, or it is dead
/// and nobody has asked how it ended.
std::string start_of(std::int64_t pid) {
  const std::string stat = content(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  std::string_view rest = std::string_view(stat).substr(name_end + 1);
  constexpr int kState = 0;
  constexpr int kStart = 19;
  for (int field = 0; field <= kStart; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view value = rest.substr(0, rest.find(' '));
    if (field == kState && (value == "Z" || value == "X")) return "";
    if (field == kStart) return std::string(value);
    rest.remove_prefix(value.size());
  }
  return "";
}

std::string describe(std::int64_t pid) {
  const std::string start = start_of(pid);
  std::string boot = content("/proc/sys/kernel/random/boot_id");
  boot.resize(std::min(boot.find('\n'), boot.size()));
  return start.empty() || boot.empty() ? "" : fmt::format("{} {} {}", pid, start, boot);
}

}  // namespace

std::string this_process() {
  return describe(::getpid());
}

bool still_runs(std::string_view process) {
  std::int64_t pid = 0;
  std::from_chars(process.data(), process.data() + process.size(), pid);
  return pid > 0 && describe(pid) == process;
}

}  // namespace headway::trace
