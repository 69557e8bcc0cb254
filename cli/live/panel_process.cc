// SPDX-License-Identifier: MIT
#include "cli/live/panel_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <string>
#include <utility>

#include "cli/live/budget.h"
#include "cli/live/follower.h"
#include "cli/live/show.h"
#include "cli/live/terminal.h"
#include "collector/record/environment/launched_rank.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::cli::live {
namespace {

constexpr char kDraws = 'd';   ///< the terminal must be restored from now on
constexpr char kClosed = 'c';  ///< it was restored; the processor time follows
constexpr std::int64_t kPatienceNs = 3'000'000'000;

/// Ends of a pipe, with numbers above the standard streams: closed ones would be reused.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    fail_internal("cannot create a pipe: {}. Raise `ulimit -n`.", system_error_text(errno));
  for (int& end : ends) {
    const int high = ::fcntl(end, F_DUPFD_CLOEXEC, 10);
    if (high < 0) continue;
    ::close(end);
    end = high;
  }
  return ends;
}

/// The name that `follow` sends; empty when the recorder ended first.
std::string receive_name(int fd) {
  std::string name;
  for (char c = 0;;) {
    const ssize_t got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    if (c == '\0') return name;
    name += c;
  }
}

/// Closes inherited descriptors: a caller's pipe must end when the caller closes it.
void leave_descriptors(int control, int status) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) {
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
  }
  const auto [low, high] = std::minmax(control, status);
  auto close_between = [](int first, int last) {
    if (first <= last) ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
  };
  close_between(STDERR_FILENO + 1, low - 1);
  close_between(low + 1, high - 1);
  ::close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
}

void run_panel(int control, int status, double seconds, const analyzer::StepOptions& steps) {
  leave_descriptors(control, status);
  const DisplaySignals signals;
  ::prctl(PR_SET_NAME, "headway-live");
  // The recorded program has priority, but a busy machine must not delay the panel too far.
  [[maybe_unused]] const int niceness = ::nice(10);
  const std::string file = receive_name(control);
  if (file.empty()) return;
  const std::optional<int> rank = record::launched_self().rank;
  // With several recorders on one terminal, one of them prints progress lines.
  if (rank.value_or(0) > 0) {
    char c = 0;
    [[maybe_unused]] const ssize_t closed = ::read(control, &c, 1);
    return;
  }
  const Place place = !rank && can_draw(STDERR_FILENO) ? Place::kRegion : Place::kLines;
  if (place == Place::kRegion) write_all(status, std::string(1, kDraws));
  FollowOptions follow;
  follow.file = file;
  follow.steps = steps;
  const Follower follower(std::move(follow));
  show(follower, {STDERR_FILENO, place, seconds, control}, signals);
  // Do not wait for an analysis in progress.
  write_all(status, fmt::format("{}{}", kClosed, clock_ns(CLOCK_PROCESS_CPUTIME_ID)));
  ::_exit(0);
}

}  // namespace

PanelProcess::PanelProcess(double seconds, const analyzer::StepOptions& steps) {
  const std::array<int, 2> control = make_pipe();
  const std::array<int, 2> status = make_pipe();
  const pid_t between = ::fork();
  if (between == 0) {
    // Forked twice, so that the panel is not a child of the recorder.
    if (::fork() != 0) ::_exit(0);
    ::close(control[1]);
    ::close(status[0]);
    try {
      run_panel(control[0], status[1], seconds, steps);
    } catch (const std::exception&) {  // the run continues without a panel
    }
    ::_exit(0);
  }
  ::close(control[0]);
  ::close(status[1]);
  to_ = control[1];
  from_ = status[0];
  if (between < 0) fail_internal("cannot start a process: {}.", system_error_text(errno));
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
}

PanelProcess::~PanelProcess() {
  close();
}

void PanelProcess::follow(const std::filesystem::path& file) {
  const std::string name = file.string() + '\0';
  // The panel may have died; SIGPIPE is ignored by then.
  if (to_ >= 0) write_all(to_, name);
}

void PanelProcess::close() {
  if (to_ < 0) return;
  ::close(std::exchange(to_, -1));
  std::string told;
  const std::int64_t until = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  for (std::array<char, 64> bytes{};;) {
    const std::int64_t left = until - clock_ns(CLOCK_MONOTONIC);
    pollfd item{from_, POLLIN, 0};
    if (left <= 0 || ::poll(&item, 1, static_cast<int>(left / 1'000'000) + 1) < 0) break;
    const ssize_t got = ::read(from_, bytes.data(), bytes.size());
    if (got <= 0) break;
    told.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ::close(from_);
  const std::size_t closed = told.find(kClosed);
  if (closed != std::string::npos)
    std::from_chars(told.data() + closed + 1, told.data() + told.size(), cpu_.ns);
  else if (told.find(kDraws) != std::string::npos)
    write_all(STDERR_FILENO, Region::close_unknown());
}

}  // namespace headway::cli::live
