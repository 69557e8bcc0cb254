// SPDX-License-Identifier: MIT
// HEADWAY_DEVICE_CALL and CUPTI_ACTIVITY_KIND_RUNTIME -> Trace::calls.
#include "trace/load/context.h"
#include "trace/load/cuda_api.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/device_call.h"
#include "trace/tables/runtime.h"

namespace headway::trace::load_detail {
namespace {

/// A stream as the file identifies it: globalPid, device (-1: the call has no stream), stream.
using StreamKey = std::tuple<std::int64_t, std::int32_t, std::int32_t>;

struct Part {
  Calls calls;
  LocalIds<std::int64_t> threads;  ///< globalTid
  LocalIds<StreamKey> streams;
  std::unordered_map<std::uint32_t, DeviceCallKind> kind_of_name;
  RowTracker tracker;
  LossCounts losses{};

  void reserve(std::size_t rows_expected) { reserve_columns(calls, rows_expected); }
};

struct NewCall {
  std::int64_t start;
  std::int64_t end;
  std::int64_t global_tid;
  StringId name;
  DeviceCallKind kind;
  std::int64_t correlation;
  std::int64_t sync_id = 0;
  std::int64_t bytes = 0;
  StreamKey stream = {0, -1, 0};
};

void add(Part& part, const NewCall& call) {
  if (!usable(part.losses, call.start, call.end)) return;
  Calls& out = part.calls;
  out.start.push_back({call.start});
  out.end.push_back({call.end});
  out.name.push_back(call.name);
  out.thread.push_back(ThreadId{part.threads(call.global_tid)});
  out.stream.push_back(StreamId{part.streams(call.stream)});
  out.correlation.push_back(static_cast<std::uint64_t>(call.correlation));
  out.sync_id.push_back(static_cast<std::uint64_t>(call.sync_id));
  out.bytes.push_back(bytes_of(call.bytes));
  out.kind.push_back(call.kind);
}

std::vector<Part> read_own(Context& context) {
  using Row = tables::DeviceCall::Row;
  std::int64_t recording_end = context.trace.end.ns;
  return sqlite::Select<tables::DeviceCall, &Row::start, &Row::end, &Row::global_tid, &Row::kind,
                        &Row::device_id, &Row::stream_id, &Row::correlation_id, &Row::sync_id,
                        &Row::name_id, &Row::bytes>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t, const Row& row) {
            add(part, {row.start,
                       row.end.value_or(std::max(row.start, recording_end)),
                       row.global_tid,
                       context.string(row.name_id.value, part.losses),
                       enum_or(row.kind, DeviceCallKind::kOther),
                       row.correlation_id.value_or(0),
                       row.sync_id.value_or(0),
                       row.bytes,
                       {global_pid_of(row.global_tid), row.device_id, row.stream_id}});
          },
          context.in_stretch(), context.first_row(tables::DeviceCall::name));
}

std::vector<Part> read_cuda(Context& context) {
  const RowMap& map = context.row_map(RowTable::kRuntime);
  using Row = tables::Runtime::Row;
  return sqlite::Select<tables::Runtime, &Row::start, &Row::end, &Row::global_tid,
                        &Row::correlation_id, &Row::name_id>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            StringId name = context.string(row.name_id.value, part.losses);
            auto [kind, is_new] = part.kind_of_name.try_emplace(name.value);
            if (is_new) kind->second = cuda_call_kind(context.trace.strings[name]);
            std::size_t before = part.calls.size();
            add(part, {row.start, row.end, row.global_tid.value_or(0), name, kind->second,
                       row.correlation_id.value_or(0)});
            if (part.calls.size() > before) part.tracker.saw(map, id, before);
          },
          context.in_stretch(), context.first_row(tables::Runtime::name));
}

void merge(Context& context, DeviceType type, std::vector<Part> parts) {
  for (Part& part : parts) {
    if (type == DeviceType::kCuda)
      part.tracker.finish(context.row_map(RowTable::kRuntime), context.trace.calls.size());
    std::vector<ThreadId> threads;
    for (std::int64_t global_tid : part.threads.keys) threads.push_back(context.thread(global_tid));
    std::vector<StreamId> streams;
    for (const auto& [global_pid, device, stream] : part.streams.keys) {
      if (device < 0) {
        streams.push_back(StreamId::none());  // the call has no stream, so its process is not used
        continue;
      }
      ProcessId process = context.process(global_pid);
      streams.push_back(context.stream(context.device(type, process, device), process, stream));
    }
    for (ThreadId& thread : part.calls.thread) thread = threads[thread.value];
    for (StreamId& stream : part.calls.stream) stream = streams[stream.value];
    context.add_losses(part.losses);
    append_columns(context.trace.calls, part.calls);
    part = {};
  }
}

}  // namespace

void load_calls(Context& context) {
  merge(context, DeviceType::kHost, read_own(context));
  merge(context, DeviceType::kCuda, read_cuda(context));
}

void sort_calls(Context& context) {
  follow_order(context.row_map(RowTable::kRuntime),
               sort_events(context.trace.calls, context.threads));
}

}  // namespace headway::trace::load_detail
