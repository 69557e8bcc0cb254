// SPDX-License-Identifier: MIT
#include "collector/record/system/proc_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "collector/record/environment/launched_rank.h"
#include "collector/wire/hello.h"

namespace headway::record {
namespace {

std::string read_whole(const std::string& path, std::size_t limit = 1 << 16) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  if (!fd) return content;
  content.resize(limit);
  std::size_t size = 0;
  while (size < limit) {
    ssize_t got = ::read(fd.get(), content.data() + size, limit - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  return content;
}

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// The part of /proc/<pid>/stat behind the name, which may itself contain spaces and parentheses.
/// Field 0 is the state.
std::string_view after_name(std::string_view stat) {
  std::size_t close = stat.rfind(')');
  return close == std::string_view::npos ? std::string_view() : stat.substr(close + 1);
}

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t:\n"), text.size()));
  return text;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// True when the descriptor is so near the limit that it should be closed again.
bool is_scarce(int fd) {
  constexpr rlim_t kKept = 32;
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(fd) + kKept >= limit.rlim_cur;
}

}  // namespace

ProcFile::ProcFile(std::string path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  const bool none_left = !fd_ && (errno == EMFILE || errno == ENFILE);
  if (!none_left && !(fd_ && is_scarce(fd_.get()))) return;
  fd_.reset();
  path_ = std::move(path);
}

std::string_view ProcFile::read(std::string& buffer) const {
  if (!fd_ && path_.empty()) return {};
  if (buffer.size() < 32768) buffer.resize(32768);  // /proc/stat of 400 processors
  FileDescriptor once;
  if (!fd_) once = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = fd_ ? fd_.get() : once.get();
  if (fd < 0) return {};
  ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(got))
                 : std::string_view();
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    if (at == 0 || text[at - 1] == '\n')
      return leading_number(trim_left(text.substr(at + key.size())));
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_at(std::string_view text, std::size_t index) {
  text = trim_left(text);
  for (; index > 0; --index) {
    std::size_t end = text.find_first_of(" \n");
    if (end == std::string_view::npos) return std::nullopt;
    text = trim_left(text.substr(end));
  }
  return leading_number(text);
}

pid_t parent_of(pid_t pid) {
  std::string stat = read_whole(fmt::format("/proc/{}/stat", pid));
  return static_cast<pid_t>(number_at(after_name(stat), 1).value_or(0));
}

std::optional<ProcessDescription> describe_process(pid_t pid) {
  std::string stat = read_whole(fmt::format("/proc/{}/stat", pid));
  std::string_view fields = after_name(stat);
  std::optional<std::int64_t> parent = number_at(fields, 1);
  std::optional<std::int64_t> start = number_at(fields, 19);
  if (!parent || !start) return std::nullopt;
  ProcessDescription result;
  result.parent_pid = static_cast<pid_t>(*parent);
  result.start_boottime_ns = *start * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  const std::string arguments_file = fmt::format("/proc/{}/cmdline", pid);
  const std::string variables_file = fmt::format("/proc/{}/environ", pid);
  std::string arguments = read_whole(arguments_file);
  std::string variables = read_whole(variables_file);
  // After an exec between the two reads, arguments and variables would be of two programs.
  std::string now = read_whole(arguments_file);
  if (!now.empty() && now != arguments) {
    arguments = std::move(now);
    variables = read_whole(variables_file);
    now = read_whole(arguments_file);
  }
  while (!arguments.empty() && arguments.back() == '\0') arguments.pop_back();
  result.name = std::filesystem::path(arguments.substr(0, arguments.find('\0'))).filename();
  result.command_line = std::move(arguments);
  // A zero byte before each variable, so that a name does not match the end of another name.
  variables.insert(0, 1, '\0');
  // Unreadable (of another user), overwritten (by a program that changes its title), or gone with
  // the process, which has no arguments then either: not known.
  const bool known = ::access(variables_file.c_str(), R_OK) == 0 && !now.empty() &&
                     (variables.size() == 1 || variables.find('=') != std::string::npos);
  result.without_session =
      known &&
      variables.find(fmt::format("{}{}=", '\0', wire::kSessionVariable)) == std::string::npos;
  result.launched = launched([&](const std::string& name) {
    const std::string key = '\0' + name + '=';
    std::size_t at = variables.find(key);
    if (at == std::string::npos) return std::string();
    at += key.size();
    return variables.substr(at, variables.find('\0', at) - at);
  });
  if (result.name.empty()) {
    std::size_t open = stat.find('(');
    std::size_t close = stat.rfind(')');
    if (open < close) result.name = stat.substr(open + 1, close - open - 1);
  }
  return result;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", pid), error);
  for (; !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
    std::string list = read_whole(task->path().string() + "/children");
    for (std::size_t i = 0; std::optional<std::int64_t> child = number_at(list, i); ++i)
      children.push_back(static_cast<pid_t>(*child));
  }
  return children;
}

bool descends_from(pid_t pid, pid_t ancestor) {
  // A bound on the loop, because the tree may change meanwhile.
  for (int depth = 0; pid > 1 && depth < 256; ++depth) {
    if (pid == ancestor) return true;
    pid = parent_of(pid);
  }
  return false;
}

std::int64_t boottime_to_monotonic(std::int64_t boottime_ns) {
  return boottime_ns - (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
}

}  // namespace headway::record
