// SPDX-License-Identifier: MIT
#include "trace/import/xplane/build.h"

namespace headway::trace::xplane {
namespace {

using namespace load_detail;

constexpr std::int64_t kSecond = 1'000'000'000;
/// A profile lasts minutes. Rows a week away from the others come from a broken clock.
constexpr std::int64_t kReach = 7 * 24 * 3600 * kSecond;
constexpr std::int64_t kNsOfPs = 1'000;
/// More ops than any program has; further ops have only names.
constexpr std::size_t kMostGraphOps = 1'000'000;

/// A time in the middle of the file's times.
std::int64_t usual_time(const Space& space) {
  std::vector<std::int64_t> times;
  for (const Plane& plane : space.planes) {
    for (const Line& line : plane.lines) {
      if (!line.events.empty()) times.push_back(line.timestamp_ns);
    }
  }
  if (times.empty()) return 0;
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  using Limits = std::numeric_limits<std::int64_t>;
  return std::clamp(*middle, Limits::min() + kReach, Limits::max() - kReach);
}

}  // namespace

Building::Building(Assembly& target, const Space& source)
    : assembly(target), trace(target.trace), space(source) {
  std::int64_t centre = usual_time(space);
  earliest_ = centre - kReach;
  latest_ = centre + kReach;
  std::int64_t pid = 1;
  for (const Plane& plane : space.planes) {
    std::int64_t said = plane.stats.number(Stat::kProcessId, 0);
    if (said > 0 && said < next_thread_) pid = said;
  }
  process = assembly.process(pid << 24);
  trace.domains.assign(1, "");
}

bool Building::times(const Line& line, const Event& event, Interval& out) {
  std::int64_t end_ps = 0;
  if (event.duration_ps < 0) {
    count(assembly.losses, Loss::kNegativeDuration);
    return false;
  }
  if (__builtin_add_overflow(event.offset_ps, event.duration_ps, &end_ps) ||
      __builtin_add_overflow(line.timestamp_ns, event.offset_ps / kNsOfPs, &out.begin.ns) ||
      __builtin_add_overflow(line.timestamp_ns, end_ps / kNsOfPs, &out.end.ns) ||
      out.begin.ns < earliest_ || out.end.ns > latest_) {
    count(assembly.losses, Loss::kTimeOutOfRange);
    return false;
  }
  return true;
}

ThreadId Building::thread(std::int64_t id, std::string_view name) {
  // Lines are named "pool/7", where 7 is their id.
  std::string suffix = "/" + std::to_string(id);
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  bool real = id > 0 && id < 0xf00000;
  auto [slot, is_new] = threads_.try_emplace({id, real ? "" : std::string(name)});
  if (is_new) {
    std::int64_t number = real ? id : next_thread_++;
    slot->second = assembly.thread(trace.processes[process.value].global_pid | (number & 0xffffff));
    trace.threads[slot->second.value].name = name;
  }
  return slot->second;
}

ThreadId Building::device_thread(const std::string& name) {
  auto [slot, is_new] = device_threads_.try_emplace(name);
  if (is_new) {
    slot->second =
        assembly.thread(trace.processes[process.value].global_pid | (next_thread_++ & 0xffffff));
    trace.threads[slot->second.value].name = name;
  }
  return slot->second;
}

DomainId Building::domain(std::string_view name) {
  auto found = domains_.find(name);
  if (found != domains_.end()) return found->second;
  DomainId id = DomainId::from(trace.domains.size());
  trace.domains.emplace_back(name);
  domains_.emplace(name, id);
  return id;
}

void Building::saw(Interval when) {
  first_ = std::min(first_, when.begin.ns);
}

RangeInfo& Building::add_range(ThreadId thread, Interval when, StringId name, DomainId domain,
                               bool with_info, std::uint8_t flags) {
  saw(when);
  Ranges& ranges = trace.ranges;
  ranges.start.push_back(when.begin);
  ranges.end.push_back(when.end);
  ranges.name.push_back(name);
  ranges.thread.push_back(thread);
  ranges.domain.push_back(domain);
  ranges.flags.push_back(when.begin == when.end ? flags | Ranges::kMark : flags);
  ranges.info.push_back(with_info ? RangeInfoId::from(trace.range_info.size())
                                  : RangeInfoId::none());
  return with_info ? trace.range_info.emplace_back() : unused_;
}

void Building::add_call(ThreadId thread, Interval when, StringId name, DeviceCallKind kind,
                        std::uint32_t correlation) {
  saw(when);
  Calls& calls = trace.calls;
  calls.start.push_back(when.begin);
  calls.end.push_back(when.end);
  calls.name.push_back(name);
  calls.thread.push_back(thread);
  calls.stream.push_back(StreamId::none());
  calls.correlation.push_back(correlation);
  calls.sync_id.push_back(kind == DeviceCallKind::kEventRecord ? correlation : 0);
  calls.bytes.push_back(0);
  calls.kind.push_back(kind);
}

void Building::add_op(Interval when, const OpRow& op) {
  saw(when);
  DeviceOps& ops = trace.device_ops;
  ops.start.push_back(when.begin);
  ops.end.push_back(when.end);
  ops.name.push_back(op.name);
  ops.stream.push_back(op.stream);
  ops.call.push_back(CallId{op.correlation});
  ops.bytes.push_back(op.bytes);
  ops.flops.push_back(op.flops);
  ops.op.push_back(op.graph_op);
  ops.batch.push_back(-1);
  ops.kind.push_back(op.kind);
  ops.phase.push_back(op.phase);
  ops.math_unit.push_back(op.math_unit);
  ops.source_memory.push_back(op.source);
  ops.destination_memory.push_back(op.destination);
  ops.blocks.push_back(op.blocks);
  ops.block_threads.push_back(op.block_threads);
  ops.flags.push_back(0);
}

void Building::add_collective(std::string_view kind, std::int64_t bytes) {
  Collective& collective = trace.collectives.emplace_back();
  collective.op = DeviceOpId::from(trace.device_ops.size() - 1);
  collective.kind = string(kind);
  collective.communicator = string("");
  collective.dtype = string("");
  collective.bytes = bytes;
}

void Building::add_counter(const std::string& name, std::optional<std::int32_t> device,
                           std::int64_t time, std::int64_t value) {
  auto [slot, is_new] = counters_.try_emplace({name, device}, trace.counters.size());
  if (is_new) {
    CounterSeries& series = trace.counters.emplace_back();
    series.name = name;
    series.unit = "bytes";
    series.process = process;
    series.device = device;
  }
  saw({{time}, {time}});
  CounterSeries& series = trace.counters[slot->second];
  series.time.push_back({time});
  series.value.push_back(static_cast<double>(value));
}

std::int32_t Building::graph_op(std::string_view module, std::string_view name,
                                std::string_view type, Phase phase) {
  std::string key(module);
  key += '/';
  key += name;
  auto [slot, is_new] = graph_ops_.try_emplace(std::move(key));
  if (is_new) {
    if (trace.graph_ops.size() >= kMostGraphOps) {
      slot->second.op = -1;
      return -1;
    }
    slot->second.op = static_cast<std::int32_t>(trace.graph_ops.size());
    GraphOp& op = trace.graph_ops.emplace_back();
    op.process = process;
    op.op = slot->second.op;
    op.phase = phase;
    op.name = name;
    op.type = type;
    trace.graph_op_index[{process, op.op}] = GraphOpId::from(trace.graph_ops.size() - 1);
    module_of_.emplace_back(module);
    modules_.try_emplace(std::string(module));
  }
  return slot->second.op;
}

void Building::name_graph_ops() {
  if (modules_.size() < 2) return;
  for (std::size_t i = 0; i < trace.graph_ops.size(); ++i) {
    if (!module_of_[i].empty())
      trace.graph_ops[i].name = module_of_[i] + "/" + trace.graph_ops[i].name;
  }
}

void Building::shift() {
  std::int64_t zero = first_ == std::numeric_limits<std::int64_t>::max() ? 0 : first_;
  auto move = [&](std::vector<TimeNs>& times) {
    for (TimeNs& time : times) time.ns -= zero;
  };
  for (auto* times : {&trace.ranges.start, &trace.ranges.end, &trace.calls.start, &trace.calls.end,
                      &trace.device_ops.start, &trace.device_ops.end})
    move(*times);
  for (CounterSeries& series : trace.counters) move(series.time);
  // Times are those of the wall clock, or count from the begin of the profile.
  constexpr std::int64_t kSeptember2001 = 1'000'000'000'000'000'000;
  std::int64_t base = 0;
  for (const Plane& plane : space.planes)
    base = std::max(base, plane.stats.number(Stat::kProfileStart, 0));
  if (zero >= kSeptember2001) base = 0;
  std::int64_t start = 0;
  if (!__builtin_add_overflow(base, zero, &start) && start >= kSeptember2001)
    trace.start_utc_ns = start;
}

void Building::place_collectives(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> now(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  for (Collective& collective : trace.collectives) {
    if (!order.empty()) collective.op.value = now[collective.op.value];
  }
  std::stable_sort(trace.collectives.begin(), trace.collectives.end(),
                   [](const Collective& a, const Collective& b) { return a.op < b.op; });
}

void Building::finish() {
  name_graph_ops();
  shift();
  sort_events(trace.ranges, assembly.threads);
  sort_events(trace.calls, assembly.threads);
  place_collectives(sort_device_ops(trace, assembly.threads));
  for (CounterSeries& series : trace.counters) {
    std::vector<std::uint32_t> order = event_order(series.time, series.time, 1);
    if (order.empty()) continue;
    CounterSeries sorted = series;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted.time[i] = series.time[order[i]];
      sorted.value[i] = series.value[order[i]];
    }
    series = std::move(sorted);
  }
  nest(trace);
  link(assembly);
}

}  // namespace headway::trace::xplane
