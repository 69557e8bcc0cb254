// SPDX-License-Identifier: MIT
#include "analyzer/graph/program_order.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// How many calls of the thread are looked at to find out which stream it works on.
constexpr std::ptrdiff_t kNear = 64;

}  // namespace

ProgramOrder::ProgramOrder(const Trace& trace)
    : trace_(trace),
      streams_(trace.processes.size()),
      launched_(trace.device_ops.size(), TimeNs::min()) {
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    ProcessId process = trace.streams[s].process;
    if (process.value < streams_.size() && !trace.ops_of_stream[StreamId{s}].empty())
      streams_[process.value].push_back(StreamId{s});
    TimeNs last = TimeNs::min();
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
      CallId call = trace.device_ops.call[op.value];
      if (call.valid()) last = std::max(last, trace.calls.start[call.value]);
      launched_[op.value] = last;
    }
  }
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    meant_.push_back(StreamId{s});
    ProcessId process = trace.streams[s].process;
    if (process.value >= streams_.size() || !trace.ops_of_stream[StreamId{s}].empty()) continue;
    for (StreamId other : streams_[process.value]) {
      if (trace.streams[other.value].ordinal == trace.streams[s].ordinal) meant_[s] = other;
    }
  }
  const Calls& calls = trace.calls;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.kind[c] != DeviceCallKind::kEventRecord || calls.sync_id[c] == 0) continue;
    records_.push_back({process_of(CallId{c}), calls.sync_id[c], calls.start[c], CallId{c}});
  }
  std::sort(records_.begin(), records_.end(),
            [](const Record& a, const Record& b) { return a.key() < b.key(); });
}

DeviceOpId ProgramOrder::last_before(StreamId stream, TimeNs t) const {
  auto ops = trace_.ops_of_stream[stream];
  auto after = std::partition_point(ops.begin(), ops.end(),
                                    [&](DeviceOpId op) { return launched_[op.value] < t; });
  return after == ops.begin() ? DeviceOpId::none() : *(after - 1);
}

DeviceOpId ProgramOrder::first_from(StreamId stream, TimeNs t) const {
  auto ops = trace_.ops_of_stream[stream];
  auto at = std::partition_point(ops.begin(), ops.end(),
                                 [&](DeviceOpId op) { return launched_[op.value] < t; });
  return at == ops.end() ? DeviceOpId::none() : *at;
}

StreamId ProgramOrder::stream_of(CallId call) const {
  const Calls& calls = trace_.calls;
  if (calls.stream[call.value].valid()) return meant(calls.stream[call.value]);
  auto row = trace_.calls_of_thread[calls.thread[call.value]];
  auto at = std::lower_bound(row.begin(), row.end(), call);
  bool forward = calls.kind[call.value] == DeviceCallKind::kStreamWaitEvent;
  for (std::ptrdiff_t i = 0; i < kNear; ++i) {
    if (forward ? ++at >= row.end() : at == row.begin()) break;
    if (!forward) --at;
    DeviceOpId op = calls.op[at->value];
    if (op.valid()) return trace_.device_ops.stream[op.value];
  }
  return StreamId::none();
}

/// By id where there is one (handles of events are reused, ids are not); else the last event that
/// the thread recorded before it waits, as frameworks do.
CallId ProgramOrder::record_of(CallId wait) const {
  const Calls& calls = trace_.calls;
  TimeNs start = calls.start[wait.value];
  if (std::uint64_t id = calls.sync_id[wait.value]) {
    Record probe{process_of(wait), id, start, wait};
    auto after =
        std::upper_bound(records_.begin(), records_.end(), probe,
                         [](const Record& a, const Record& b) { return a.key() < b.key(); });
    if (after == records_.begin()) return CallId::none();
    const Record& found = *(after - 1);
    return found.process == probe.process && found.id == id ? found.call : CallId::none();
  }
  auto row = trace_.calls_of_thread[calls.thread[wait.value]];
  auto at = std::lower_bound(row.begin(), row.end(), wait);
  for (std::ptrdiff_t i = 0; i < kNear && at != row.begin(); ++i) {
    --at;
    if (calls.kind[at->value] == DeviceCallKind::kEventRecord) return *at;
  }
  return CallId::none();
}

ProgramOrder::Target ProgramOrder::awaited_by(CallId wait) const {
  CallId record = record_of(wait);
  if (!record.valid()) return {};
  StreamId stream = stream_of(record);
  if (!stream.valid()) return {};
  bool inferred =
      trace_.calls.sync_id[wait.value] == 0 || !trace_.calls.stream[record.value].valid();
  return {last_before(stream, trace_.calls.start[record.value]), inferred};
}

}  // namespace headway::analyzer
