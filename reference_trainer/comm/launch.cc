// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "common/error.h"
#include "reference_trainer/comm/ranks.h"

namespace headway::trainer {
namespace {

using Clock = std::chrono::steady_clock;
/// Time for the other ranks to report why they stop, after one has failed.
constexpr std::chrono::seconds kGrace{5};

volatile std::sig_atomic_t received = 0;
/// A terminal has already sent its signal to the ranks; a second one would end them at once.
extern "C" void on_signal(int signal, siginfo_t* info, void*) {
  if (info->si_code != SI_KERNEL) received = signal;
}

struct Child {
  pid_t pid = -1;
  bool running = false;
  int status = 0;
};

pid_t start(int rank, int ranks, const char* const* argv) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  ::setenv("RANK", std::to_string(rank).c_str(), 1);
  ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  ::setenv("HEADWAY_TRAIN_RUN", std::to_string(parent).c_str(), 1);
  ::execv("/proc/self/exe", const_cast<char* const*>(argv));
  std::perror("headway-train: cannot start a rank");
  ::_exit(static_cast<int>(ExitCode::kInternal));
}

void signal_all(const std::vector<Child>& children, int signal) {
  for (const Child& child : children)
    if (child.running) ::kill(child.pid, signal);
}

/// The status that a shell would show; 4 (internal) for a signal.
int exit_status(const Child& child) {
  return WIFEXITED(child.status) ? WEXITSTATUS(child.status)
                                 : static_cast<int>(ExitCode::kInternal);
}

class Launch {
 public:
  Launch(int ranks, const char* const* argv) : children_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t pid = start(rank, ranks, argv);
      if (pid < 0) {
        signal_all(children_, SIGKILL);
        fail_internal("Cannot start rank {} of {}: {}.", rank, ranks, system_error_text(errno));
      }
      children_[static_cast<std::size_t>(rank)] = {pid, true, 0};
      ++running_;
    }
  }

  int wait() {
    while (running_ > 0) {
      reap();
      pass_on();
      if (failed_ && running_ > 0 && Clock::now() > *stop_at_) stop_more();
      if (running_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return failed_.value_or(0);
  }

 private:
  void reap() {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      Child& child = children_[rank];
      if (!child.running || ::waitpid(child.pid, &child.status, WNOHANG) != child.pid) continue;
      child.running = false;
      --running_;
      const int status = exit_status(child);
      if (status == 0 || failed_) continue;
      failed_ = status;
      stop_at_ = Clock::now() + kGrace;
      if (WIFSIGNALED(child.status))
        fmt::print(stderr, "headway-train: rank {} (process {}) was killed by signal {}.\n", rank,
                   child.pid, WTERMSIG(child.status));
    }
  }

  void pass_on() {
    if (received == 0) return;
    signal_all(children_, received);
    received = 0;
  }

  /// Asks the ranks to end; the second time, kills them.
  void stop_more() {
    fmt::print(stderr, "headway-train: ending {} rank{} that still run{}.\n", running_,
               running_ == 1 ? "" : "s", running_ == 1 ? "s" : "");
    signal_all(children_, asked_ ? SIGKILL : SIGTERM);
    asked_ = true;
    stop_at_ = Clock::now() + kGrace;
  }

  std::vector<Child> children_;
  int running_ = 0;
  std::optional<int> failed_;
  std::optional<Clock::time_point> stop_at_;
  bool asked_ = false;
};

}  // namespace

int launch_ranks(int ranks, const char* const* argv) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return Launch(ranks, argv).wait();
}

}  // namespace headway::trainer
