// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/planted/dsl/describe.h"
#include "tests/planted/dsl/simulate.h"

namespace headway::planted {
namespace {

using namespace trace;

/// Rows of `events` to keep, by start, longer first, then as made.
template <class Event, class Keep>
std::vector<std::size_t> ordered(const std::vector<Event>& events, Keep keep) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (keep(events[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Interval& x = events[a].interval;
    const Interval& y = events[b].interval;
    return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
  });
  return order;
}

template <class RowId, class Key>
GroupIndex<RowId, Key> group(const std::vector<Key>& keys, std::size_t count) {
  GroupIndex<RowId, Key> index;
  index.offset.assign(count + 1, 0);
  for (Key key : keys) ++index.offset[key.value + 1];
  std::partial_sum(index.offset.begin(), index.offset.end(), index.offset.begin());
  index.rows.resize(keys.size());
  std::vector<std::uint32_t> next(index.offset.begin(), index.offset.end() - 1);
  for (std::size_t i = 0; i < keys.size(); ++i) index.rows[next[keys[i].value]++] = RowId::from(i);
  return index;
}

class Assembler {
 public:
  Assembler(const Case& c, const Recording& recording, std::optional<int> rank)
      : case_(c), in_(recording), rank_(rank) {}

  Trace make() {
    out_.path = *case_.file;
    out_.complete = true;
    out_.world_size = case_.world ? case_.world : case_.ranks > 1 ? case_.ranks : 0;
    out_.domains.assign(1, "");
    inventory();
    ranges();
    calls();
    ops();
    collectives();
    overheads();
    out_.ranges_of_thread = group<RangeId>(out_.ranges.thread, out_.threads.size());
    out_.calls_of_thread = group<CallId>(out_.calls.thread, out_.threads.size());
    out_.ops_of_stream = group<DeviceOpId>(out_.device_ops.stream, out_.streams.size());
    for (const auto* ends : {&out_.ranges.end, &out_.device_ops.end, &out_.calls.end}) {
      for (TimeNs end : *ends) out_.end = std::max(out_.end, end);
    }
    describe(case_, rank_, out_);
    return std::move(out_);
  }

 private:
  bool keeps(int rank) const { return !rank_ || *rank_ == rank; }

  void inventory() {
    for (const Recording::Process& process : in_.processes) {
      process_.push_back(keeps(process.rank) ? ProcessId::from(out_.processes.size())
                                             : ProcessId::none());
      if (!keeps(process.rank)) continue;
      Process row;
      row.pid = 100 + static_cast<int>(out_.processes.size());
      row.global_pid = std::int64_t{row.pid} << 24;
      row.rank = process.rank;
      row.name = process.name;
      row.injected = true;
      out_.processes.push_back(row);
    }
    for (const Recording::Thread& thread : in_.threads) {
      ProcessId process = process_[thread.process];
      thread_.push_back(process.valid() ? ThreadId::from(out_.threads.size()) : ThreadId::none());
      if (!process.valid()) continue;
      Thread row;
      row.tid = thread.tid;
      row.global_tid = out_.processes[process.value].global_pid | thread.tid;
      row.process = process;
      row.name = thread.name;
      out_.threads.push_back(row);
    }
    for (const Recording::Device& device : in_.devices) {
      device_.push_back(keeps(device.rank) ? DeviceId::from(out_.devices.size())
                                           : DeviceId::none());
      if (!keeps(device.rank)) continue;
      out_.devices.push_back(device.facts);
      out_.devices.back().process = main_process(device.rank);
    }
    for (const Recording::Stream& stream : in_.streams) {
      DeviceId device = device_[stream.device];
      stream_.push_back(device.valid() ? StreamId::from(out_.streams.size()) : StreamId::none());
      if (!device.valid()) continue;
      out_.streams.push_back(
          {device, main_process(in_.devices[stream.device].rank), stream.ordinal, stream.name});
    }
  }

  ProcessId main_process(int rank) const {
    for (std::size_t i = 0; i < in_.processes.size(); ++i) {
      if (in_.processes[i].rank == rank) return process_[i];
    }
    return ProcessId::none();
  }

  DomainId domain(const std::string& name) {
    for (std::size_t i = 0; i < out_.domains.size(); ++i) {
      if (out_.domains[i] == name) return DomainId::from(i);
    }
    out_.domains.push_back(name);
    return DomainId::from(out_.domains.size() - 1);
  }

  void ranges() {
    Ranges& ranges = out_.ranges;
    std::vector<std::vector<RangeId>> open(out_.threads.size());
    for (std::size_t i :
         ordered(in_.ranges, [&](const auto& r) { return thread_[r.thread].valid(); })) {
      const Recording::Range& row = in_.ranges[i];
      ThreadId thread = thread_[row.thread];
      ranges.start.push_back(row.interval.begin);
      ranges.end.push_back(row.interval.end);
      ranges.name.push_back(out_.strings.add(row.name));
      ranges.thread.push_back(thread);
      ranges.domain.push_back(domain(row.domain));
      ranges.flags.push_back(row.flags);
      RangeInfoId info;
      if (row.has_info) {
        info = RangeInfoId::from(out_.range_info.size());
        out_.range_info.push_back(row.info);
        out_.range_info.back().shapes = out_.strings.add(row.shapes);
        out_.range_info.back().dtypes = out_.strings.add(row.dtypes);
      }
      ranges.info.push_back(info);
      std::vector<RangeId>& stack = open[thread.value];
      while (!stack.empty() && ranges.end[stack.back().value] <= row.interval.begin)
        stack.pop_back();
      ranges.parent.push_back(stack.empty() ? RangeId::none() : stack.back());
      ranges.depth.push_back(static_cast<std::uint16_t>(stack.size()));
      if (!(row.flags & Ranges::kMark)) stack.push_back(RangeId::from(ranges.size() - 1));
    }
  }

  void calls() {
    Calls& calls = out_.calls;
    call_.assign(in_.calls.size(), CallId::none());
    for (std::size_t i :
         ordered(in_.calls, [&](const auto& c) { return thread_[c.thread].valid(); })) {
      const Recording::Call& row = in_.calls[i];
      call_[i] = CallId::from(calls.start.size());
      calls.start.push_back(row.interval.begin);
      calls.end.push_back(row.interval.end);
      calls.name.push_back(out_.strings.add(row.name));
      calls.thread.push_back(thread_[row.thread]);
      calls.stream.push_back(row.stream < 0 ? StreamId::none() : stream_[row.stream]);
      calls.correlation.push_back(row.correlation);
      calls.sync_id.push_back(row.sync_id);
      calls.bytes.push_back(row.bytes);
      calls.kind.push_back(row.kind);
      calls.op.push_back(DeviceOpId::none());
    }
  }

  void ops() {
    DeviceOps& ops = out_.device_ops;
    op_.assign(in_.ops.size(), DeviceOpId::none());
    for (std::size_t i :
         ordered(in_.ops, [&](const auto& o) { return stream_[o.stream].valid(); })) {
      const Recording::Op& row = in_.ops[i];
      op_[i] = DeviceOpId::from(ops.start.size());
      ops.start.push_back(row.interval.begin);
      ops.end.push_back(row.interval.end);
      ops.name.push_back(out_.strings.add(row.name));
      ops.stream.push_back(stream_[row.stream]);
      ops.call.push_back(call_[row.call]);
      ops.bytes.push_back(row.bytes);
      ops.flops.push_back(row.flops);
      ops.op.push_back(static_cast<std::int32_t>(row.op));
      ops.batch.push_back(static_cast<std::int32_t>(row.batch));
      ops.kind.push_back(row.kind);
      ops.phase.push_back(row.phase);
      ops.math_unit.push_back(row.math);
      ops.source_memory.push_back(row.source);
      ops.destination_memory.push_back(row.destination);
      ops.blocks.push_back(static_cast<std::uint32_t>(row.blocks));
      ops.block_threads.push_back(static_cast<std::uint16_t>(row.threads));
      ops.flags.push_back(0);
      DeviceOpId& first = out_.calls.op[call_[row.call].value];
      if (!first.valid()) first = op_[i];
    }
  }

  void collectives() {
    std::vector<std::pair<DeviceOpId, std::size_t>> order;
    for (std::size_t i = 0; i < in_.collectives.size(); ++i) {
      DeviceOpId op = op_[in_.collectives[i].op];
      if (op.valid()) order.emplace_back(op, i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [op, i] : order) {
      const Recording::Collective& row = in_.collectives[i];
      Collective collective;
      collective.op = op;
      collective.kind = out_.strings.add(row.kind);
      collective.communicator = out_.strings.add(row.communicator);
      collective.dtype = out_.strings.add(row.dtype);
      collective.bytes = row.bytes;
      collective.sequence = row.sequence;
      collective.ranks = row.ranks;
      collective.peer = row.peer;
      out_.collectives.push_back(collective);
    }
  }

  void overheads() {
    for (std::size_t i :
         ordered(in_.overheads, [&](const auto& o) { return thread_[o.thread].valid(); })) {
      const Recording::Overhead& row = in_.overheads[i];
      out_.overheads.push_back(
          {row.interval, thread_[row.thread], out_.strings.add(row.name), row.kind});
    }
  }

  const Case& case_;
  const Recording& in_;
  std::optional<int> rank_;
  Trace out_;
  std::vector<ProcessId> process_;
  std::vector<ThreadId> thread_;
  std::vector<DeviceId> device_;
  std::vector<StreamId> stream_;
  std::vector<CallId> call_;
  std::vector<DeviceOpId> op_;
};

}  // namespace

Trace assemble(const Case& c, const Recording& recording, std::optional<int> rank) {
  return Assembler(c, recording, rank).make();
}

Trace make_trace(const Case& c) {
  return assemble(c, simulate(c));
}

std::vector<Trace> make_rank_traces(const Case& c) {
  Recording recording = simulate(c);
  std::vector<Trace> traces;
  traces.reserve(static_cast<std::size_t>(c.ranks));  // copies of a trace have views of its texts
  for (int rank = 0; rank < c.ranks; ++rank) traces.push_back(assemble(c, recording, rank));
  return traces;
}

}  // namespace headway::planted
