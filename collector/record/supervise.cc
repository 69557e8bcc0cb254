// SPDX-License-Identifier: MIT
#include "collector/record/supervise.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "collector/record/exit_status.h"
#include "collector/record/system/proc_files.h"
#include "common/error.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::record {
namespace {

constexpr std::array<int, 6> kPassedOn = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kTickMs = 250;
// One press of Ctrl-C, or one `timeout`, may arrive as several signals at once.
constexpr std::int64_t kSecondRequestMs = 250;

/// The signals that Supervisor handles, without those that were ignored when the recorder was
/// started (nohup, a background job of a script): the command ignores these, too.
sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (int number : kPassedOn) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&set, number);
  }
  return set;
}

std::int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_gone(const FileDescriptor& pidfd, pid_t pid) {
  if (!pidfd) return ::kill(pid, 0) != 0 && errno == ESRCH;
  pollfd item{pidfd.get(), POLLIN, 0};
  return ::poll(&item, 1, 0) > 0;
}

ProcessEnded how_it_ended(pid_t pid, std::optional<int> status) {
  ProcessEnded message{pid, monotonic_ns(), {}, {}};
  if (status && WIFEXITED(*status)) message.exit_code = WEXITSTATUS(*status);
  if (status && WIFSIGNALED(*status)) message.signal = WTERMSIG(*status);
  return message;
}

std::string reason_of(const wire::Hello& hello) {
  std::string error = hello.problem_errno ? ": " + system_error_text(hello.problem_errno) : "";
  switch (static_cast<wire::Problem>(hello.problem)) {
    case wire::Problem::kMemfd:
      return "the system refuses shared memory (memfd_create)" + error;
    case wire::Problem::kMap:
      return "the system refuses shared memory (mmap)" + error;
    default:
      return "its limits (ulimit -f, ulimit -v) leave no room for shared memory" + error;
  }
}

std::string no_descriptor_reason() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return fmt::format("the recorder reached its limit of {} open files. Raise `ulimit -n`",
                     limit.rlim_cur);
}

}  // namespace

int Outcome::exit_status() const {
  if (left_running) return 128 + SIGINT;
  return signal ? 128 + *signal : exit_code.value_or(static_cast<int>(ExitCode::kInternal));
}

FileDescriptor prepare_to_supervise() {
  sigset_t set = handled_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // The summary may go to a pipe without a reader, and the trace may reach `ulimit -f`.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  FileDescriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals)
    fail_internal("cannot create a descriptor for signals: {}. Raise `ulimit -n`.",
                  system_error_text(errno));
  return signals;
}

Supervisor::Supervisor(pid_t primary, Options options, Wanted wanted, const FileDescriptor& signals,
                       SessionSocket& socket, Drain& drain, MessageQueue& queue,
                       std::function<void()> on_tick)
    : primary_(primary),
      options_(std::move(options)),
      wanted_(std::move(wanted)),
      signals_(signals),
      socket_(socket),
      drain_(drain),
      queue_(queue),
      on_tick_(std::move(on_tick)) {}

Outcome Supervisor::run() {
  poll_until_finished();
  outcome_.ended_monotonic_ns = monotonic_ns();
  accept_arrivals();
  outcome_.scope_over = !leave_ && !all_ended() && wanted_.nothing_more();
  outcome_.left_running = leave_ && !primary_ended_;
  return outcome_;
}

Outcome Supervisor::outlive(int signal) {
  closed_ = true;
  images_.clear();
  if (signal != 0) forward(signal);
  poll_until_finished();
  outcome_.left_running = leave_ && !primary_ended_;
  return outcome_;
}

void Supervisor::poll_until_finished() {
  std::int64_t next_tick = 0;
  reap();
  while (!finished()) {
    std::vector<pollfd> items = {{signals_.get(), POLLIN, 0}, {socket_.fd(), POLLIN, 0}};
    for (const auto& [id, image] : images_) {
      if (image.pidfd) items.push_back({image.pidfd.get(), POLLIN, 0});
    }
    ::poll(items.data(), items.size(), kTickMs);
    accept_arrivals();
    handle_signals();
    check_image_ends();
    std::int64_t now = monotonic_ns();
    if (now >= next_tick) {
      next_tick = now + kTickMs * 1'000'000;
      reap();  // two SIGCHLD may have been merged into one
      if (!closed_) on_tick_();
    }
  }
}

bool Supervisor::all_ended() const {
  return primary_ended_ && (options_.wait == WaitFor::kPrimary || no_children_);
}

bool Supervisor::finished() {
  if (leave_ || (!closed_ && wanted_.nothing_more())) return true;
  if (!primary_ended_) return false;
  if (all_ended()) return true;
  if (!told_waiting_ && !options_.quiet) {
    std::vector<pid_t> rest = children_of(::getpid());
    std::string list;
    for (std::size_t i = 0; i < rest.size() && i < 4; ++i)
      list += fmt::format("{}{}", i ? ", " : "", rest[i]);
    if (rest.size() > 4) list += ", …";
    // Children that end with their parent are reaped within milliseconds: no message for them.
    if (asked_to_end_ms_ == 0 && !rest.empty() && monotonic_ns() - ended_ns_ > 500'000'000) {
      tell(
          fmt::format("headway: {} has ended; waiting for its child processes (pid {}). Press "
                      "Ctrl-C twice to stop waiting.\n",
                      escape_terminal(options_.name), list));
      told_waiting_ = true;
    }
  }
  return false;
}

void Supervisor::accept_arrivals() {
  for (Arrival& arrival : socket_.receive()) admit(arrival);
}

void Supervisor::admit(Arrival& arrival) {
  if (closed_) {
    welcome(arrival, false, options_.clock);
    return;
  }
  std::optional<int> rank;
  if (std::optional<ProcessDescription> process = describe_process(arrival.pid)) {
    rank = process->launched.rank;
    queue_.send(ProcessSeen{arrival.pid, process->parent_pid,
                            boottime_to_monotonic(process->start_boottime_ns),
                            std::move(process->name), std::move(process->command_line),
                            std::move(process->launched), process->without_session});
  }
  if (!wanted_.process(arrival.pid, rank)) {
    welcome(arrival, false, options_.clock);
    queue_.send(ProcessLeftOut{arrival.pid});
    return;
  }
  std::string reason;
  std::unique_ptr<SegmentReader> reader;
  if (arrival.hello.problem != 0) {
    reason = reason_of(arrival.hello);
  } else if (arrival.no_descriptor) {
    reason = no_descriptor_reason();
  } else {
    reader = SegmentReader::map(arrival.memory, arrival.hello.layout, reason);
  }
  if (!welcome(arrival, reader != nullptr, options_.clock) && reader) {
    reason = "it stopped waiting for the recorder; is the machine overloaded?";
    reader.reset();
  }
  if (!reader) {
    queue_.send(ProcessRefused{arrival.pid, std::move(reason)});
    return;
  }
  end_images_of(arrival.pid);  // the process has called exec
  auto segment = std::make_shared<LiveSegment>();
  segment->id = next_segment_++;
  segment->reader = std::move(reader);
  Image& image = images_[segment->id];
  image.segment = segment;
  image.pid = arrival.pid;
  image.pidfd = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, arrival.pid, 0)));
  queue_.send(SegmentAdded{segment->id, arrival.pid});
  drain_.add(std::move(segment));
}

void Supervisor::end_images_of(pid_t pid) {
  std::erase_if(images_, [&](auto& item) {
    if (item.second.pid != pid) return false;
    item.second.segment->ended = true;
    return true;
  });
}

void Supervisor::check_image_ends() {
  std::vector<ProcessEnded> gone;
  for (const auto& [id, image] : images_) {
    if (!is_gone(image.pidfd, image.pid)) continue;
    gone.push_back(how_it_ended(
        image.pid, image.pidfd ? exit_status_of(image.pidfd.get(), image.pid) : std::nullopt));
  }
  for (const ProcessEnded& message : gone) {
    end_images_of(message.pid);
    queue_.send(message);
  }
}

void Supervisor::reap() {
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, WNOHANG);
    no_children_ = pid < 0 && errno == ECHILD;
    if (pid <= 0) return;
    ProcessEnded message = how_it_ended(pid, status);
    if (pid == primary_) {
      primary_ended_ = true;
      ended_ns_ = message.monotonic_ns;
      outcome_.exit_code = message.exit_code;
      outcome_.signal = message.signal;
    }
    end_images_of(pid);
    queue_.send(message);
  }
}

void Supervisor::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      reap();
      continue;
    }
    handle_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL,
                  static_cast<pid_t>(info.ssi_pid));
  }
}

void Supervisor::handle_signal(int number, bool from_terminal, pid_t sender) {
  // A program that signals its whole process group does not mean the recorder.
  if (!from_terminal && sender != 0 && sender != ::getpid() && descends_from(sender, ::getpid())) {
    return;
  }
  // The terminal sends to the whole foreground group: the program has it already.
  if (!from_terminal) forward(number);
  if (number == SIGUSR1 || number == SIGUSR2) return;
  outcome_.interrupted = true;
  std::int64_t now_ms = monotonic_ns() / 1'000'000;
  bool second = asked_to_end_ms_ != 0 && now_ms - asked_to_end_ms_ >= kSecondRequestMs;
  if (asked_to_end_ms_ == 0) asked_to_end_ms_ = now_ms;
  // Closing the terminal does not ask the recorder to leave the program running.
  if (number != SIGHUP && (second || (primary_ended_ && !from_terminal))) leave_ = true;
}

void Supervisor::forward(int number) {
  if (!primary_ended_) ::kill(primary_, number);
}

}  // namespace headway::record
