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
  // Ten years: longer than any run, and sums of such times in ns cannot overflow.
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
  TimeNs start;
  std::uint32_t row;
};

/// The rows, spread by start over buckets of equal time: bucket `i` holds the items [bounds[i],
/// bounds[i + 1]), in the order of their rows.
struct Buckets {
  std::vector<Item> items;
  std::vector<std::uint32_t> bounds;
};

/// Files hold the events of a thread about in their order, so consecutive rows fall into the same
/// bucket or the next: both passes go through memory from front to back. A radix sort by the lowest
/// digits first would jump with each row.
template <class StartAt>
Buckets spread(std::size_t count, StartAt start_at) {
  // A bucket of this many items is sorted in the L1 cache.
  constexpr std::size_t kItemsABucket = 32;
  Buckets result;
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  // Signed times as unsigned distances from the smallest possible time.
  auto distance = [](TimeNs time) { return static_cast<std::uint64_t>(time.ns) ^ (1ull << 63); };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t at = distance(start_at(i).start);
    least = std::min(least, at);
    most = std::max(most, at);
  }
  const std::size_t wanted = std::bit_ceil(count / kItemsABucket + 2);
  const int shift = std::max(0, static_cast<int>(std::bit_width(most - least)) -
                                    static_cast<int>(std::bit_width(wanted)) + 1);
  auto bucket_of = [&](TimeNs time) { return (distance(time) - least) >> shift; };
  std::vector<std::uint32_t>& bounds = result.bounds;
  bounds.assign(static_cast<std::size_t>((most - least) >> shift) + 2, 0);
  for (std::size_t i = 0; i < count; ++i) ++bounds[bucket_of(start_at(i).start) + 1];
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  std::vector<std::uint32_t> next(bounds.begin(), bounds.end() - 1);
  result.items.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Item item = start_at(i);
    result.items[next[bucket_of(item.start)]++] = item;
  }
  return result;
}

/// Sorts by `before`, which sorts by start first.
template <class Before>
void sort_items(std::span<Item> items, const Before& before) {
  // A bucket may hold very many items (a burst, or one event that is far from all others).
  constexpr std::size_t kMany = 4096;
  const bool one_start = std::all_of(items.begin(), items.end(),
                                     [&](const Item& i) { return i.start == items.front().start; });
  if (one_start || items.size() < kMany) return std::sort(items.begin(), items.end(), before);
  Buckets inner = spread(items.size(), [&](std::size_t i) { return items[i]; });
  std::copy(inner.items.begin(), inner.items.end(), items.begin());
  for (std::size_t i = 0; i + 1 < inner.bounds.size(); ++i)
    sort_items(items.subspan(inner.bounds[i], inner.bounds[i + 1] - inner.bounds[i]), before);
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
  Buckets buckets = spread(start.size(), [&](std::size_t i) {
    return Item{start[i], static_cast<std::uint32_t>(i)};
  });
  std::vector<std::uint32_t> order(start.size());
  auto item_before = [&](const Item& a, const Item& b) {
    return a.start != b.start ? a.start < b.start : before(a.row, b.row);
  };
  // A task for a thread: this many neighbouring buckets.
  constexpr std::size_t kTogether = 1024;
  const std::size_t count = buckets.bounds.size() - 1;
  run_parallel(
      (count + kTogether - 1) / kTogether,
      [&](std::size_t piece) {
        const std::size_t last = std::min(count, (piece + 1) * kTogether);
        for (std::size_t i = piece * kTogether; i < last; ++i) {
          const std::uint32_t begin = buckets.bounds[i];
          sort_items(std::span(buckets.items).subspan(begin, buckets.bounds[i + 1] - begin),
                     item_before);
        }
        for (std::uint32_t i = buckets.bounds[piece * kTogether]; i < buckets.bounds[last]; ++i)
          order[i] = buckets.items[i].row;
      },
      threads);
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
  // A CUDA device belongs to the machine, any other device to its process.
  std::int64_t key = type == DeviceType::kCuda ? -1 : owner.value;
  auto [slot, is_new] =
      device_ids.try_emplace({type, key, ordinal}, DeviceId::from(trace.devices.size()));
  if (is_new) {
    Device& device = trace.devices.emplace_back();
    device.type = type;
    device.ordinal = static_cast<std::int32_t>(ordinal);
    device.process = owner;
  } else if (Device& device = trace.devices[slot->second.value]; !device.process.valid()) {
    device.process = owner;  // the device was listed before a process used it
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

void add_range(Assembly& assembly, std::int64_t global_tid, std::int64_t begin, std::int64_t end,
               std::string_view name) {
  if (!usable(assembly.losses, begin, end)) return;
  Trace& trace = assembly.trace;
  if (trace.domains.empty()) trace.domains.emplace_back();
  Ranges& ranges = trace.ranges;
  ranges.start.push_back(TimeNs{begin});
  ranges.end.push_back(TimeNs{end});
  ranges.name.push_back(trace.strings.add(name));
  ranges.thread.push_back(assembly.thread(global_tid));
  ranges.domain.push_back(DomainId{0});
  ranges.parent.push_back(RangeId::none());
  ranges.info.push_back(RangeInfoId::none());
  ranges.depth.push_back(0);
  ranges.flags.push_back(0);
  trace.end = std::max(trace.end, TimeNs{end});
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
    // Ranges of different domains may overlap without nesting; the parent is the innermost range that
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
