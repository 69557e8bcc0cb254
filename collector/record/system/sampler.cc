// SPDX-License-Identifier: MIT
#include "collector/record/system/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace headway::record {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t to_monotonic_ns(Clock::time_point time) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

void Sampler::run() {
  auto period = std::chrono::nanoseconds(1'000'000'000 / (hz_ > 0 ? hz_ : 1));
  Clock::time_point next = Clock::now();
  Clock::time_point next_clocks = next;
  // Short waits, so that finish() returns soon.
  constexpr auto kStep = std::chrono::milliseconds(20);
  while (!finishing_) {
    Clock::time_point now = Clock::now();
    if (now >= next_clocks) {
      queue_.send(ClockTick{read_clocks()});
      next_clocks += std::chrono::seconds(1);
    }
    if (now >= next) {
      if (hz_ > 0) sample();
      next += period;
      if (next < now) next = now + period;  // the machine was suspended or very busy
    }
    std::this_thread::sleep_until(std::min({next, next_clocks, Clock::now() + kStep}));
  }
  if (hz_ > 0) sample();  // last values, also of processes that ended since the previous sample
  queue_.send(ClockTick{read_clocks()});
}

void Sampler::describe(pid_t pid, Known& known) {
  // A forked process runs another program after exec, which under load may come seconds later.
  std::string_view arguments = known.arguments.read(buffer_);
  if (arguments == known.described) return;
  known.described = arguments;
  std::optional<ProcessDescription> process = describe_process(pid);
  if (!process) return;
  queue_.send(ProcessSeen{pid, process->parent_pid,
                          boottime_to_monotonic(process->start_boottime_ns),
                          std::move(process->name), std::move(process->command_line),
                          std::move(process->launched), process->without_session});
}

void Sampler::discover() {
  // The last field of /proc/loadavg is the ID of the newest process or thread. While it is unchanged, no process is new,
  // and the walk over all children (10 us a thread) is unnecessary.
  std::string_view load = load_.read(buffer_);
  std::int64_t newest = number_at(load, 4).value_or(-1);
  if (newest >= 0 && newest == newest_pid_) return;
  newest_pid_ = newest;
  std::vector<pid_t> to_visit = {::getpid()};
  std::set<pid_t> visited;
  while (!to_visit.empty()) {
    pid_t pid = to_visit.back();
    to_visit.pop_back();
    if (!visited.insert(pid).second) continue;
    for (pid_t child : children_of(pid)) to_visit.push_back(child);
    if (pid == ::getpid() || processes_.contains(pid)) continue;
    processes_.emplace(
        pid, Known{ProcessSampler(pid), ProcFile(fmt::format("/proc/{}/cmdline", pid)), {}});
  }
}

void Sampler::sample() {
  discover();
  Samples message;
  message.monotonic_ns = to_monotonic_ns(Clock::now());
  message.since_ns = sampled_ns_ != 0 ? sampled_ns_ : message.monotonic_ns;
  sampled_ns_ = message.monotonic_ns;
  machine_.sample(message.monotonic_ns, message.samples);
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    auto& [pid, known] = *entry;
    describe(pid, known);
    if (known.sampler.sample(to_monotonic_ns(Clock::now()), message.samples)) {
      ++entry;
    } else {
      queue_.send(ProcessEnded{pid, to_monotonic_ns(Clock::now()), {}, {}});
      entry = processes_.erase(entry);
    }
  }
  queue_.send(std::move(message));
}

}  // namespace headway::record
