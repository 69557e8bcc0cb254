// SPDX-License-Identifier: MIT
#include "cli/live/show.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cli/live/budget.h"
#include "cli/live/panel.h"
#include "cli/live/terminal.h"
#include "common/error.h"

namespace headway::cli::live {
namespace {

constexpr std::size_t kUsualLines = 7;  ///< initial height, so that it seldom has to grow
constexpr std::size_t kMostLines = 9;

sigset_t answered() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT})
    ::sigaddset(&set, number);
  return set;
}

class Screen {
 public:
  explicit Screen(const ShowOptions& options) : options_(options) {}
  ~Screen() { close(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// False when the reader has closed the output.
  bool draw(const Figures& figures) {
    if (options_.place == Place::kLines) return write_all(options_.fd, plain_line(figures) + "\n");
    // In the background, the terminal belongs to another process group.
    const pid_t group = ::tcgetpgrp(options_.fd);
    if (group > 0 && group != ::getpgrp()) return true;
    const Size size = terminal_size(options_.fd);
    PanelStyle style;
    style.width = static_cast<std::size_t>(std::max(size.columns, 1));
    style.colour = wants_colour();
    if (options_.place == Place::kFullScreen) {
      style.height = static_cast<std::size_t>(std::max(size.rows, 1));
      std::vector<std::string> lines = panel(figures, style);
      if (lines.size() + 2 <= style.height && style.width >= 40) {
        lines.emplace_back();
        lines.emplace_back("Ctrl-C closes this view; the run continues.");
      }
      return write_all(options_.fd, full_.draw(lines));
    }
    style.height =
        std::min<std::size_t>(kMostLines, static_cast<std::size_t>(Region::most_lines(size)));
    std::vector<std::string> lines = panel(figures, style);
    lines_ = std::min(std::max({lines_, lines.size(), kUsualLines}), style.height);
    lines.resize(lines_);
    return write_all(options_.fd, region_.draw(size, lines));
  }

  void close() {
    const std::string text = region_.close() + full_.close();
    if (!text.empty()) write_all(options_.fd, text);
  }

 private:
  ShowOptions options_;
  Region region_;
  FullScreen full_;
  std::size_t lines_ = 0;
};

std::int64_t period_ns(const ShowOptions& options) {
  const double usual = options.place == Place::kLines ? 10 : 1;
  const double seconds = options.seconds > 0 ? options.seconds : usual;
  return static_cast<std::int64_t>(seconds * 1e9);
}

bool is_over(const Figures& figures) {
  return figures.phase == Phase::kEnded || figures.phase == Phase::kCut ||
         figures.phase == Phase::kFailed;
}

}  // namespace

DisplaySignals::DisplaySignals() {
  const sigset_t set = answered();
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  ::signal(SIGPIPE, SIG_IGN);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0)
    fail_internal("cannot create a descriptor for signals: {}. Raise `ulimit -n`.",
                  system_error_text(errno));
}

DisplaySignals::~DisplaySignals() {
  ::close(fd_);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Ended show(const Follower& follower, const ShowOptions& options, const DisplaySignals& signals) {
  const bool of_run = options.until_closed >= 0;
  Screen screen(options);
  const std::int64_t period = period_ns(options);
  std::int64_t due = clock_ns(CLOCK_MONOTONIC);
  if (options.place == Place::kLines && of_run) due += period;
  bool told_waiting = false;
  for (;;) {
    const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
    const Figures figures = follower.figures();
    if (!of_run && is_over(figures)) return Ended::kRun;
    const bool waits = figures.phase == Phase::kWaiting;
    if (now >= due) {
      // Says only once that nothing has begun yet.
      const bool again = options.place == Place::kLines && waits && told_waiting;
      told_waiting = told_waiting || waits;
      if (!again && !screen.draw(figures)) return Ended::kNobodyReads;
      due = now + (waits ? std::min<std::int64_t>(period, 300'000'000) : period);
    }
    // Checks for the end of the run more often than lines are written.
    const std::int64_t wait = std::clamp<std::int64_t>(due - now, 0, 500'000'000);
    pollfd items[] = {{signals.fd(), POLLIN, 0}, {options.until_closed, POLLIN, 0}};
    ::poll(items, of_run ? 2 : 1, static_cast<int>(wait / 1'000'000) + 1);
    if (of_run && items[1].revents != 0) return Ended::kAsked;
    signalfd_siginfo info;
    while (::read(signals.fd(), &info, sizeof info) == sizeof info) {
      switch (info.ssi_signo) {
        case SIGTSTP:
          screen.close();
          ::raise(SIGSTOP);
          [[fallthrough]];
        case SIGWINCH:
        case SIGCONT:
          if (options.place != Place::kLines) due = 0;
          break;
        default:
          if (!of_run) return Ended::kAsked;
      }
    }
  }
}

}  // namespace headway::cli::live
