// SPDX-License-Identifier: MIT
#include "cli/tune/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "cli/tune/runs.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kStopping = {SIGINT, SIGTERM, SIGHUP};
/// The time that a training run gets to exit cleanly.
constexpr std::chrono::seconds kGrace{3};
constexpr std::size_t kKeptOfErrors = 64 * 1024;
constexpr std::size_t kKeptOfOutput = 64 * 1024 * 1024;
constexpr int kPollMs = 50;

std::atomic<int> stop_signal = 0;
std::atomic<int> stop_count = 0;
std::array<struct sigaction, kStopping.size()> actions_before;

extern "C" void on_stop(int signal) {
  int none = 0;
  stop_signal.compare_exchange_strong(none, signal);
  stop_count.fetch_add(1);
}

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  void reset(int fd) {
    close();
    fd_ = fd;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_internal("pipe: {}", system_error_text(errno));
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

[[noreturn]] void become(const std::vector<std::string>& command, const Pipe& out, const Pipe& err,
                         const Pipe& failure, pid_t parent) {
  ::setpgid(0, 0);
  // Ends the child when its parent is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  for (int signal : kStopping) std::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out.write.get(), STDOUT_FILENO);
  ::dup2(err.write.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(failure.write.get(), &code, sizeof code);
  ::_exit(127);
}

/// Ends the whole group: asks first, then kills after kGrace or on a second signal.
void end_group(pid_t leader) {
  const int count = stop_count.load();
  ::kill(-leader, SIGTERM);
  const auto until = Clock::now() + kGrace;
  for (;;) {
    siginfo_t info{};
    // The leader is not reaped yet, so the group id stays valid.
    ::waitid(P_PID, static_cast<id_t>(leader), &info, WEXITED | WNOWAIT | WNOHANG);
    if (info.si_pid == leader || Clock::now() > until || stop_count.load() > count) break;
    ::usleep(1000 * kPollMs / 5);
  }
  ::kill(-leader, SIGKILL);
  int status = 0;
  while (::waitpid(leader, &status, 0) < 0 && errno == EINTR) {
  }
}

/// Reads the available bytes; false at end of file.
bool read_some(Descriptor& from, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0) from.close();
  return count != 0;
}

void keep_end(std::string& text, std::size_t most) {
  if (text.size() > 2 * most) text.erase(0, text.size() - most);
}

/// Reads until both ends are closed; throws when it takes too long or a signal came.
void collect(pid_t child, Pipe& out, Pipe& err, double limit_s, ChildResult& result) {
  const auto until = Clock::now() + std::chrono::duration<double>(limit_s);
  while (out.read.get() >= 0 || err.read.get() >= 0) {
    if (const int signal = stop_signal.load()) {
      end_group(child);
      throw Interrupted{signal};
    }
    if (limit_s > 0 && Clock::now() > until) {
      end_group(child);
      throw RunTooLong{};
    }
    std::array<pollfd, 2> polled = {
        {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};  // below 0: ignored
    if (::poll(polled.data(), polled.size(), kPollMs) <= 0) continue;
    if (polled[0].revents) read_some(out.read, result.out);
    if (polled[1].revents) read_some(err.read, result.err);
    keep_end(result.out, kKeptOfOutput);
    keep_end(result.err, kKeptOfErrors);
  }
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  stop_count = 0;
  struct sigaction action {};
  action.sa_handler = on_stop;
  for (std::size_t i = 0; i < kStopping.size(); ++i)
    ::sigaction(kStopping[i], &action, &actions_before[i]);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kStopping.size(); ++i)
    ::sigaction(kStopping[i], &actions_before[i], nullptr);
}

int StopSignals::received() {
  return stop_signal.load();
}

ChildResult run_child(const std::vector<std::string>& command, double limit_s) {
  if (const int signal = stop_signal.load()) throw Interrupted{signal};
  Pipe out;
  Pipe err;
  Pipe failure;
  const auto start = Clock::now();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail_internal("fork: {}", system_error_text(errno));
  if (child == 0) become(command, out, err, failure, parent);
  ::setpgid(child, child);  // both processes call it, because either may run first
  out.write.close();
  err.write.close();
  failure.write.close();
  ChildResult result;
  collect(child, out, err, limit_s, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  int code = 0;
  if (::read(failure.read.get(), &code, sizeof code) == sizeof code)
    fail_usage("{}: cannot start: {}.", escape_terminal(command.front()), system_error_text(code));
  return result;
}

}  // namespace headway::tune
