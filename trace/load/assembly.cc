// SPDX-License-Identifier: MIT
#include "trace/load/assembly.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace headway::trace::load_detail {

bool usable(LossCounts& losses, std::int64_t start, std::int64_t end) {
  // Ten years: far beyond any run, far inside the range where sums of nanoseconds cannot overflow.
  constexpr std::int64_t kLimit = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  if (start < -kLimit || start > kLimit || end < -kLimit || end > kLimit) {
    count(losses, Loss::kTimeOutOfRange);
    return false;
  }
  if (end < start) {
    count(losses, Loss::kNegativeDuration);
    return false;
  }
  return true;
}

std::vector<std::uint32_t> event_order(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end) {
  auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (start[a] != start[b]) return start[a] < start[b];
    if (end[a] != end[b]) return end[a] > end[b];
    return a < b;
  };
  bool sorted = true;
  for (std::uint32_t i = 1; i < start.size() && sorted; ++i) sorted = before(i - 1, i);
  if (sorted) return {};
  std::vector<std::uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), before);
  return order;
}

void run_tasks(const std::vector<std::function<void()>>& tasks, int threads) {
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < tasks.size();) tasks[i]();
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

int thread_count(int wanted) {
  int hardware = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return wanted > 0 ? wanted : std::min(hardware, 8);
}

void Assembly::add_losses(const LossCounts& part) {
  for (std::size_t i = 0; i < part.size(); ++i) losses[i] += part[i];
}

ProcessId Assembly::process(std::int64_t global_pid) {
  auto [slot, is_new] =
      process_ids.try_emplace(global_pid, ProcessId::from(trace.processes.size()));
  if (is_new) {
    Process& process = trace.processes.emplace_back();
    process.global_pid = global_pid;
    process.pid = pid_of(global_pid);
  }
  return slot->second;
}

ThreadId Assembly::thread(std::int64_t global_tid) {
  auto [slot, is_new] = thread_ids.try_emplace(global_tid, ThreadId::from(trace.threads.size()));
  if (is_new) {
    ProcessId owner = process(global_pid_of(global_tid));
    Thread& thread = trace.threads.emplace_back();
    thread.global_tid = global_tid;
    thread.tid = tid_of(global_tid);
    thread.process = owner;
  }
  return slot->second;
}

DeviceId Assembly::device(DeviceType type, ProcessId owner, std::int64_t ordinal) {
  // CUDA devices belong to the machine, all others to the process that has them.
  std::int64_t key = type == DeviceType::kCuda ? -1 : owner.value;
  auto [slot, is_new] =
      device_ids.try_emplace({type, key, ordinal}, DeviceId::from(trace.devices.size()));
  if (is_new) {
    Device& device = trace.devices.emplace_back();
    device.type = type;
    device.ordinal = static_cast<std::int32_t>(ordinal);
    device.process = owner;
  }
  return slot->second;
}

StreamId Assembly::stream(DeviceId device, ProcessId owner, std::int64_t ordinal) {
  auto [slot, is_new] =
      stream_ids.try_emplace({device, owner, ordinal}, StreamId::from(trace.streams.size()));
  if (is_new) {
    Stream& stream = trace.streams.emplace_back();
    stream.device = device;
    stream.process = owner;
    stream.ordinal = static_cast<std::int32_t>(ordinal);
  }
  return slot->second;
}

void nest(Trace& trace) {
  Ranges& ranges = trace.ranges;
  ranges.parent.assign(ranges.size(), RangeId::none());
  ranges.depth.assign(ranges.size(), 0);
  std::vector<std::vector<RangeId>> stacks(trace.threads.size());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId id{i};
    if (ranges.is(id, Ranges::kStartEnd)) continue;
    std::vector<RangeId>& stack = stacks[ranges.thread[i].value];
    while (!stack.empty() && ranges.end[stack.back().value] <= ranges.start[i]) stack.pop_back();
    // Ranges of different domains may overlap without nesting; the parent is the innermost that
    // contains this one.
    for (auto candidate = stack.rbegin(); candidate != stack.rend(); ++candidate) {
      if (ranges.end[candidate->value] < ranges.end[i]) continue;
      ranges.parent[i] = *candidate;
      ranges.depth[i] =
          static_cast<std::uint16_t>(std::min<int>(ranges.depth[candidate->value] + 1, UINT16_MAX));
      break;
    }
    if (!ranges.is(id, Ranges::kMark)) stack.push_back(id);
  }
}

}  // namespace headway::trace::load_detail
