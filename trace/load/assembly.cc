// SPDX-License-Identifier: MIT
#include "trace/load/assembly.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

namespace headway::trace::load_detail {

bool possible(std::int64_t time) {
  // Ten years: far beyond any run, far inside the range where sums of nanoseconds cannot overflow.
  constexpr std::int64_t kLimit = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  return time >= -kLimit && time <= kLimit;
}

bool usable(LossCounts& losses, std::int64_t start, std::int64_t end) {
  if (!possible(start) || !possible(end)) {
    count(losses, Loss::kTimeOutOfRange);
    return false;
  }
  if (end < start) {
    count(losses, Loss::kNegativeDuration);
    return false;
  }
  return true;
}

namespace {

struct Item {
  std::uint64_t key;
  std::uint32_t row;
};

/// Sorts by key, stable: digits of 11 bits from the lowest, up to the highest of `range`. Several
/// times as fast as comparing, whose every step is two jumps into a column.
void radix_sort(std::span<Item> items, std::span<Item> spare, std::uint64_t range) {
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::span<Item> from = items;
  std::span<Item> to = spare;
  for (int shift = 0; shift < 64 && (range >> shift) != 0; shift += kBits) {
    std::array<std::uint32_t, kBuckets> next{};
    for (const Item& item : from) ++next[item.key >> shift & (kBuckets - 1)];
    std::uint32_t sum = 0;
    for (std::uint32_t& bucket : next) sum += std::exchange(bucket, sum);
    for (const Item& item : from) to[next[item.key >> shift & (kBuckets - 1)]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

/// The rows by start, stable: each thread sorts a part, then pairs of parts are merged.
std::vector<Item> by_start(const std::vector<TimeNs>& start, int threads) {
  auto [least, most] = std::minmax_element(start.begin(), start.end());
  const std::int64_t base = least->ns;
  auto key = [&](TimeNs time) {
    return static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(base);
  };
  const std::uint64_t range = key(*most);
  std::vector<Item> items(start.size());
  std::vector<Item> spare(start.size());
  const std::size_t parts = std::bit_floor(static_cast<std::size_t>(std::clamp(threads, 1, 8)));
  auto part = [&](std::vector<Item>& of, std::size_t i, std::size_t length) {
    std::size_t begin = of.size() * i / parts;
    return std::span(of).subspan(begin, of.size() * (i + length) / parts - begin);
  };
  run_parallel(
      parts,
      [&](std::size_t i) {
        std::span<Item> mine = part(items, i, 1);
        auto row = static_cast<std::uint32_t>(mine.data() - items.data());
        for (Item& item : mine) {
          item = {key(start[row]), row};
          ++row;
        }
        radix_sort(mine, part(spare, i, 1), range);
      },
      threads);
  for (std::size_t length = 1; length < parts; length *= 2) {
    run_parallel(
        parts / length / 2,
        [&](std::size_t pair) {
          std::span<Item> left = part(items, pair * length * 2, length);
          std::span<Item> right = part(items, pair * length * 2 + length, length);
          std::merge(left.begin(), left.end(), right.begin(), right.end(),
                     part(spare, pair * length * 2, length * 2).begin(),
                     [](const Item& a, const Item& b) { return a.key < b.key; });
        },
        threads);
    items.swap(spare);
  }
  return items;
}

}  // namespace

std::vector<std::uint32_t> event_order(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end, int threads) {
  auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (start[a] != start[b]) return start[a] < start[b];
    if (end[a] != end[b]) return end[a] > end[b];
    return a < b;
  };
  bool sorted = true;
  for (std::uint32_t i = 1; i < start.size() && sorted; ++i) sorted = before(i - 1, i);
  if (sorted) return {};
  std::vector<std::uint32_t> order(start.size());
  constexpr std::size_t kSmall = 4096;
  if (start.size() < kSmall) {
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), before);
    return order;
  }
  std::vector<Item> items = by_start(start, threads);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = items[i].row;
  // Equal starts are in file order; the longer come first.
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t next = begin + 1;
    while (next < order.size() && items[next].key == items[begin].key) ++next;
    if (next - begin > 1)
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                order.begin() + static_cast<std::ptrdiff_t>(next), before);
    begin = next;
  }
  return order;
}

std::vector<std::uint32_t> sort_device_ops(Trace& trace, int threads) {
  DeviceOps& ops = trace.device_ops;
  std::vector<std::uint32_t> order = event_order(ops.start, ops.end, threads);
  auto op_at = [&](std::size_t i) {
    return order.empty() ? static_cast<std::uint32_t>(i) : order[i];
  };
  auto rank = [&](std::uint32_t op) {
    const Stream& stream = trace.streams[ops.stream[op].value];
    if (trace.devices[stream.device.value].type != DeviceType::kCuda) return 3;
    switch (ops.kind[op]) {
      case DeviceOpKind::kKernel:
      case DeviceOpKind::kCommunication:
        return 0;
      case DeviceOpKind::kMemset:
        return 2;
      default:
        return 1;
    }
  };
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    std::uint32_t first = op_at(begin);
    bool mixed = false;
    for (end = begin + 1; end < ops.size(); ++end) {
      std::uint32_t next = op_at(end);
      if (ops.start[next] != ops.start[first] || ops.end[next] != ops.end[first]) break;
      mixed = mixed || rank(next) != rank(first);
    }
    if (!mixed) continue;
    if (order.empty()) {
      order.resize(ops.size());
      std::iota(order.begin(), order.end(), 0u);
    }
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                     order.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  }
  apply_order(ops, order, threads);
  return order;
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
  } else if (Device& device = trace.devices[slot->second.value]; !device.process.valid()) {
    device.process = owner;  // listed before any process was seen to use it
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
  struct Open {
    RangeId range;
    TimeNs first_end;  ///< of this one and those below
  };
  std::vector<std::vector<Open>> stacks(trace.threads.size());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId id{i};
    if (ranges.is(id, Ranges::kStartEnd)) continue;
    std::vector<Open>& stack = stacks[ranges.thread[i].value];
    while (!stack.empty() && ranges.end[stack.back().range.value] <= ranges.start[i])
      stack.pop_back();
    // Ranges of different domains may overlap without nesting; the parent is the one that contains
    // this one and ends first: of two that cross, the caller is the one that began before.
    RangeId parent;
    for (auto candidate = stack.rbegin(); candidate != stack.rend(); ++candidate) {
      const TimeNs end = ranges.end[candidate->range.value];
      if (parent.valid() && candidate->first_end >= ranges.end[parent.value]) break;
      if (end < ranges.end[i] || (parent.valid() && end >= ranges.end[parent.value])) continue;
      parent = candidate->range;
    }
    ranges.parent[i] = parent;
    if (parent.valid())
      ranges.depth[i] =
          static_cast<std::uint16_t>(std::min<int>(ranges.depth[parent.value] + 1, UINT16_MAX));
    if (ranges.is(id, Ranges::kMark)) continue;
    const TimeNs end = ranges.end[i];
    stack.push_back({id, stack.empty() ? end : std::min(end, stack.back().first_end)});
  }
}

}  // namespace headway::trace::load_detail
