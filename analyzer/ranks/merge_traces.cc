// SPDX-License-Identifier: MIT
#include "analyzer/ranks/merge_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/ranks/identity.h"
#include "common/error.h"
#include "trace/indexes.h"
#include "trace/load/assembly.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Merges traces one by one. finish() sorts the rows.
class Merger {
 public:
  explicit Merger(Trace first) : all_(std::move(first)) {}

  void add(Trace&& part, DurationNs shift) {
    shift_ = shift;
    offset_ = {all_.processes.size(),  all_.threads.size(),   all_.devices.size(),
               all_.streams.size(),    all_.ranges.size(),    all_.calls.size(),
               all_.device_ops.size(), all_.range_info.size()};
    strings_.clear();
    for (std::uint32_t i = 0; i < part.strings.size(); ++i)
      strings_.push_back(all_.strings.add(part.strings[StringId{i}]));
    add_domains(part);
    add_inventory(part);
    add_ranges(part);
    add_calls(part);
    add_ops(part);
    add_io(part);
    add_others(part);
    all_.end = std::max(all_.end, part.end + shift);
    all_.complete = all_.complete && part.complete;
    all_.world_size = std::max(all_.world_size, part.world_size);
    part = {};
  }

  Trace finish() {
    int threads = load_detail::thread_count(0);
    sort_by_start(threads);
    build_indexes(all_);
    return std::move(all_);
  }

 private:
  struct Offsets {
    std::size_t process, thread, device, stream, range, call, op, info;
  };

  template <class Id>
  static void move(Id& id, std::size_t offset) {
    if (id.valid()) id = Id::from(id.value + offset);
  }
  void move(StringId& id) const {
    if (id.value < strings_.size()) id = strings_[id.value];
  }
  void move(TimeNs& time) const { time = time + shift_; }
  template <class T>
  void move_all(std::vector<T>& values) const {
    for (T& value : values) move(value);
  }
  template <class Id>
  static void move_all(std::vector<Id>& ids, std::size_t offset) {
    for (Id& id : ids) move(id, offset);
  }

  template <class T>
  static void append(std::vector<T>& to, std::vector<T>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  void add_domains(const Trace& part) {
    domains_.clear();
    for (const std::string& name : part.domains) {
      auto known = std::find(all_.domains.begin(), all_.domains.end(), name);
      if (known == all_.domains.end() && all_.domains.size() < UINT16_MAX)
        known = all_.domains.insert(all_.domains.end(), name);
      domains_.push_back(known == all_.domains.end() ? DomainId{0}
                                                     : DomainId::from(static_cast<std::size_t>(
                                                           known - all_.domains.begin())));
    }
  }

  void add_inventory(Trace& part) {
    for (Process& process : part.processes) {
      move(process.start);
      if (process.end) move(*process.end);
    }
    for (Thread& thread : part.threads) move(thread.process, offset_.process);
    for (Device& device : part.devices) move(device.process, offset_.process);
    for (Stream& stream : part.streams) {
      move(stream.device, offset_.device);
      move(stream.process, offset_.process);
    }
    for (GraphOp& op : part.graph_ops) move(op.process, offset_.process);
    for (CounterSeries& series : part.counters) {
      move(series.process, offset_.process);
      move_all(series.time);
    }
    append(all_.processes, part.processes);
    append(all_.threads, part.threads);
    append(all_.devices, part.devices);
    append(all_.streams, part.streams);
    append(all_.graph_ops, part.graph_ops);
    append(all_.counters, part.counters);
  }

  void add_ranges(Trace& part) {
    Ranges& r = part.ranges;
    move_all(r.start);
    move_all(r.end);
    move_all(r.name);
    move_all(r.thread, offset_.thread);
    move_all(r.parent, offset_.range);
    move_all(r.info, offset_.info);
    for (DomainId& domain : r.domain) domain = domains_[domain.value];
    for (RangeInfo& info : part.range_info) {
      move(info.shapes);
      move(info.dtypes);
    }
    load_detail::append_columns(all_.ranges, r);
    append(all_.range_info, part.range_info);
  }

  void add_calls(Trace& part) {
    Calls& c = part.calls;
    move_all(c.start);
    move_all(c.end);
    move_all(c.name);
    move_all(c.thread, offset_.thread);
    move_all(c.stream, offset_.stream);
    move_all(c.op, offset_.op);
    load_detail::append_columns(all_.calls, c);
  }

  void add_ops(Trace& part) {
    DeviceOps& o = part.device_ops;
    move_all(o.start);
    move_all(o.end);
    move_all(o.name);
    move_all(o.stream, offset_.stream);
    move_all(o.call, offset_.call);
    load_detail::append_columns(all_.device_ops, o);
  }

  void add_io(Trace& part) {
    Io& io = part.io;
    move_all(io.start);
    move_all(io.end);
    move_all(io.path);
    move_all(io.name);
    move_all(io.thread, offset_.thread);
    load_detail::append_columns(all_.io, io);
  }

  void add_others(Trace& part) {
    for (Collective& x : part.collectives) {
      move(x.op, offset_.op);
      move(x.range, offset_.range);
      move(x.kind);
      move(x.communicator);
      move(x.dtype);
    }
    for (Overhead& x : part.overheads) {
      x.interval = {x.interval.begin + shift_, x.interval.end + shift_};
      move(x.thread, offset_.thread);
      move(x.name);
    }
    append(all_.collectives, part.collectives);
    append(all_.overheads, part.overheads);
    for (LossCount& loss : part.losses) {
      auto known = std::find_if(all_.losses.begin(), all_.losses.end(),
                                [&](const LossCount& one) { return one.name == loss.name; });
      if (known == all_.losses.end()) {
        all_.losses.push_back(std::move(loss));
      } else {
        known->count += loss.count;
      }
    }
  }

  /// New index of each row; empty: the order is unchanged.
  static std::vector<std::uint32_t> places(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> to(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) to[order[i]] = i;
    return to;
  }
  template <class Id>
  static void follow(Id& id, const std::vector<std::uint32_t>& places) {
    if (id.valid() && !places.empty()) id = Id{places[id.value]};
  }

  void sort_by_start(int threads) {
    auto ranges = places(load_detail::sort_events(all_.ranges, threads));
    auto calls = places(load_detail::sort_events(all_.calls, threads));
    auto ops = places(load_detail::sort_device_ops(all_, threads));
    load_detail::sort_events(all_.io, threads);
    for (RangeId& parent : all_.ranges.parent) follow(parent, ranges);
    for (CallId& call : all_.device_ops.call) follow(call, calls);
    for (DeviceOpId& op : all_.calls.op) follow(op, ops);
    for (Collective& x : all_.collectives) {
      follow(x.op, ops);
      follow(x.range, ranges);
    }
    auto start_of = [&](const Collective& x) {
      return x.op.valid() ? all_.device_ops.start[x.op.value] : all_.ranges.start[x.range.value];
    };
    std::stable_sort(
        all_.collectives.begin(), all_.collectives.end(),
        [&](const Collective& a, const Collective& b) { return start_of(a) < start_of(b); });
    std::stable_sort(
        all_.overheads.begin(), all_.overheads.end(),
        [](const Overhead& a, const Overhead& b) { return a.interval.begin < b.interval.begin; });
  }

  Trace all_;
  Offsets offset_{};
  DurationNs shift_;
  std::vector<StringId> strings_;
  std::vector<DomainId> domains_;
};

/// Sets the rank from the file, its name or its position in the list.
void set_ranks(Trace& trace, std::size_t index) {
  std::vector<RankProcesses> ranks = ranks_in(trace, index);
  for (const RankProcesses& rank : ranks) {
    if (rank.main.valid()) trace.processes[rank.main.value].rank = rank.identity.rank;
  }
  if (ranks.size() != 1) return;
  for (Process& process : trace.processes) process.rank = ranks[0].identity.rank;
}

/// Time shift of each trace; adds doubts to the first trace.
std::vector<DurationNs> shifts_of(std::vector<Trace>& traces) {
  std::vector<DurationNs> shifts(traces.size());
  std::set<std::string, std::less<>> hosts;
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  bool known = true;
  for (const Trace& trace : traces) {
    hosts.emplace(trace.meta_value(meta::kHost));
    known = known && trace.start_utc_ns > 0;
    first = std::min(first, trace.start_utc_ns);
    last = std::max(last, trace.start_utc_ns);
  }
  DurationNs longest{0};
  for (const Trace& trace : traces) longest = std::max(longest, trace.end - TimeNs{0});
  if (known && last - first <= longest.ns) {
    for (std::size_t i = 0; i < traces.size(); ++i)
      shifts[i] = {traces[i].start_utc_ns - traces[0].start_utc_ns};
    if (hosts.size() > 1)
      traces[0].losses.push_back({"clocks_of_hosts", "doubt",
                                  "The recordings come from several hosts and are placed by wall "
                                  "clock: compare times between hosts with care",
                                  static_cast<std::int64_t>(hosts.size())});
  } else {
    traces[0].losses.push_back({"begin_together", "doubt",
                                "The recordings have unknown or different start times: they are "
                                "shown as if they began together",
                                static_cast<std::int64_t>(traces.size())});
  }
  return shifts;
}

}  // namespace

Trace merge_traces(std::vector<Trace> traces, std::vector<DurationNs>* shifts_out) {
  HEADWAY_INVARIANT(!traces.empty());
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    set_ranks(traces[i], i);
    events += traces[i].event_count();
  }
  if (events >= UINT32_MAX)
    fail_input("{} recordings hold {} events together; Headway shows up to {} at a time.",
               traces.size(), events, UINT32_MAX);
  std::vector<DurationNs> shifts = shifts_of(traces);
  Merger merger(std::move(traces[0]));
  for (std::size_t i = 1; i < traces.size(); ++i) merger.add(std::move(traces[i]), shifts[i]);
  if (shifts_out) *shifts_out = std::move(shifts);
  return merger.finish();
}

}  // namespace headway::analyzer
