// SPDX-License-Identifier: MIT
#include "tests/analyzer/graph/graph_trace.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

namespace headway::test {

using namespace trace;

namespace {

void require_order(const std::vector<TimeNs>& starts) {
  if (starts.size() > 1 && starts.back() < starts[starts.size() - 2])
    throw std::logic_error("events must be added in the order of their start");
}

template <class RowId, class Key>
GroupIndex<RowId, Key> group(const std::vector<Key>& keys, std::size_t key_count) {
  GroupIndex<RowId, Key> index;
  index.offset.assign(key_count + 1, 0);
  for (Key key : keys) ++index.offset[key.value + 1];
  std::partial_sum(index.offset.begin(), index.offset.end(), index.offset.begin());
  index.rows.resize(keys.size());
  std::vector<std::uint32_t> next(index.offset.begin(), index.offset.end() - 1);
  for (std::size_t i = 0; i < keys.size(); ++i) index.rows[next[keys[i].value]++] = RowId::from(i);
  return index;
}

}  // namespace

ProcessId GraphTrace::process(std::int32_t rank) {
  ProcessId id = ProcessId::from(trace_.processes.size());
  Process& process = trace_.processes.emplace_back();
  process.pid = 100 + rank;
  process.rank = rank;
  Device& device = trace_.devices.emplace_back();
  device.type = DeviceType::kCuda;
  device.ordinal = rank;
  device.process = id;
  if (trace_.domains.empty()) trace_.domains.emplace_back();
  return id;
}

ThreadId GraphTrace::thread(ProcessId process, std::string_view name) {
  ThreadId id = ThreadId::from(trace_.threads.size());
  trace_.threads.push_back({static_cast<std::int64_t>(id.value),
                            static_cast<std::int32_t>(id.value), process, std::string(name)});
  return id;
}

StreamId GraphTrace::stream(ProcessId process) {
  StreamId id = StreamId::from(trace_.streams.size());
  trace_.streams.push_back(
      {DeviceId{process.value}, process, static_cast<std::int32_t>(id.value), ""});
  return id;
}

StreamId GraphTrace::stream(ProcessId process, StreamId like) {
  StreamId id = stream(process);
  trace_.streams[id.value].ordinal = trace_.streams[like.value].ordinal;
  return id;
}

CallId GraphTrace::call(ThreadId thread, DeviceCallKind kind, std::int64_t start, std::int64_t end,
                        CallOptions options) {
  Calls& calls = trace_.calls;
  CallId id = CallId::from(calls.size());
  calls.start.push_back({start});
  calls.end.push_back({end});
  calls.name.push_back(trace_.strings.add(options.name));
  calls.thread.push_back(thread);
  calls.stream.push_back(options.stream);
  calls.correlation.push_back(id.value + 1);
  calls.sync_id.push_back(options.sync_id);
  calls.bytes.push_back(0);
  calls.kind.push_back(kind);
  calls.op.emplace_back();
  require_order(calls.start);
  return id;
}

DeviceOpId GraphTrace::op(StreamId stream, CallId call, std::int64_t start, std::int64_t end,
                          std::string_view name, DeviceOpKind kind) {
  DeviceOps& ops = trace_.device_ops;
  DeviceOpId id = DeviceOpId::from(ops.size());
  ops.start.push_back({start});
  ops.end.push_back({end});
  ops.name.push_back(trace_.strings.add(name));
  ops.stream.push_back(stream);
  ops.call.push_back(call);
  ops.bytes.push_back(0);
  ops.flops.push_back(0);
  ops.op.push_back(-1);
  ops.batch.push_back(-1);
  ops.kind.push_back(kind);
  ops.phase.push_back(Phase::kNone);
  ops.math_unit.push_back(MathUnit::kUnknown);
  ops.source_memory.push_back(MemoryKind::kUnknown);
  ops.destination_memory.push_back(MemoryKind::kUnknown);
  ops.blocks.push_back(0);
  ops.block_threads.push_back(0);
  ops.flags.push_back(0);
  require_order(ops.start);
  if (call.valid() && !trace_.calls.op[call.value].valid()) {
    trace_.calls.op[call.value] = id;
    trace_.calls.stream[call.value] = stream;
  }
  return id;
}

RangeId GraphTrace::range(ThreadId thread, std::string_view name, std::int64_t start,
                          std::int64_t end, RangeInfo info) {
  Ranges& ranges = trace_.ranges;
  RangeId id = RangeId::from(ranges.size());
  RangeId parent;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    if (ranges.thread[r] == thread && ranges.start[r].ns <= start && ranges.end[r].ns >= end)
      parent = RangeId{r};
  }
  ranges.start.push_back({start});
  ranges.end.push_back({end});
  ranges.name.push_back(trace_.strings.add(name));
  ranges.thread.push_back(thread);
  ranges.parent.push_back(parent);
  ranges.info.push_back(RangeInfoId::from(trace_.range_info.size()));
  trace_.range_info.push_back(info);
  ranges.domain.push_back(DomainId{0});
  ranges.depth.push_back(parent.valid() ? static_cast<std::uint16_t>(ranges.depth[parent.value] + 1)
                                        : std::uint16_t{0});
  ranges.flags.push_back(0);
  require_order(ranges.start);
  return id;
}

void GraphTrace::collective(DeviceOpId op, std::int64_t sequence) {
  Collective collective;
  collective.op = op;
  collective.kind = trace_.strings.add("allreduce");
  collective.communicator = trace_.strings.add("world");
  collective.sequence = sequence;
  trace_.collectives.push_back(collective);
}

const Trace& GraphTrace::finish() {
  trace_.ranges_of_thread = group<RangeId>(trace_.ranges.thread, trace_.threads.size());
  trace_.calls_of_thread = group<CallId>(trace_.calls.thread, trace_.threads.size());
  trace_.ops_of_stream = group<DeviceOpId>(trace_.device_ops.stream, trace_.streams.size());
  for (const auto* ends : {&trace_.ranges.end, &trace_.device_ops.end, &trace_.calls.end}) {
    for (TimeNs end : *ends) trace_.end = std::max(trace_.end, end);
  }
  return trace_;
}

std::string word(const Trace& trace, const analyzer::PathPiece& piece) {
  std::string_view name = piece.event.kind == analyzer::EventRef::Kind::kNone
                              ? std::string_view("-")
                              : analyzer::name_of(trace, piece.event);
  return fmt::format("{}:{}", analyzer::info(piece.kind).id, name);
}

std::string words(const Trace& trace, const analyzer::CriticalPath& path) {
  std::string all;
  std::string last;
  for (const analyzer::PathPiece& piece : path.pieces) {
    std::string next = word(trace, piece);
    if (next == last) continue;
    all += (all.empty() ? "" : " ") + next;
    last = next;
  }
  return all;
}

analyzer::CriticalPath path_of(const Trace& trace) {
  analyzer::Steps steps;
  analyzer::Attribution attribution = analyzer::attribute(trace);
  return analyzer::find_critical_path(trace, steps, analyzer::partition(trace, steps, attribution));
}

}  // namespace headway::test
