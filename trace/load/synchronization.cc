// SPDX-License-Identifier: MIT
// CUPTI reports the stream and event of a synchronising call, and the event of an event record, in
// separate rows, joined by correlation id: CUPTI_ACTIVITY_KIND_{SYNCHRONIZATION,CUDA_EVENT}.
#include <algorithm>

#include "trace/load/context.h"
#include "trace/tables/cuda_event.h"
#include "trace/tables/synchronization.h"

namespace headway::trace::load_detail {
namespace {

/// The calls to which such a row may belong, by process and correlation id.
class EventCalls {
 public:
  explicit EventCalls(const Trace& trace) {
    const Calls& calls = trace.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!is_blocking(calls.kind[i]) && calls.kind[i] != DeviceCallKind::kStreamWaitEvent &&
          calls.kind[i] != DeviceCallKind::kEventRecord)
        continue;
      ProcessId process = trace.threads[calls.thread[i].value].process;
      sorted_.push_back({process.value, calls.correlation[i], static_cast<std::uint32_t>(i)});
    }
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// The last call with this id, as link() takes it; none when there is no such call.
  CallId find(ProcessId process, std::uint64_t correlation) const {
    auto after = std::upper_bound(sorted_.begin(), sorted_.end(),
                                  Key{process.value, correlation, UINT32_MAX});
    if (correlation == 0 || after == sorted_.begin()) return CallId::none();
    const auto& [owner, id, call] = *std::prev(after);
    return owner == process.value && id == correlation ? CallId{call} : CallId::none();
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  std::vector<Key> sorted_;
};

/// Streams by process and ordinal. The deviceId of these rows is always 0 (seen in exports of
/// 2026.2), so the device of the stream's other work decides.
class KnownStreams {
 public:
  explicit KnownStreams(const Trace& trace) {
    for (std::size_t i = 0; i < trace.streams.size(); ++i) {
      const Stream& stream = trace.streams[i];
      if (trace.devices[stream.device.value].type != DeviceType::kCuda) continue;
      add(streams_, {stream.process, stream.ordinal}, StreamId::from(i));
      add(devices_, stream.process, stream.device);
    }
  }

  StreamId find(Context& context, ProcessId process, std::int32_t device, std::int32_t ordinal) {
    auto known = streams_.find({process, ordinal});
    if (known != streams_.end() && known->second.valid()) return known->second;
    auto only = devices_.find(process);
    bool one_device = only != devices_.end() && only->second.valid();
    return context.stream(one_device ? only->second : context.cuda_device(process, device), process,
                          ordinal);
  }

 private:
  /// The id becomes none when there are several.
  template <class Map, class Id>
  static void add(Map& map, const typename Map::key_type& key, Id id) {
    auto [slot, is_new] = map.try_emplace(key, id);
    if (!is_new && slot->second != id) slot->second = Id::none();
  }

  std::map<std::pair<ProcessId, std::int32_t>, StreamId> streams_;
  std::map<ProcessId, DeviceId> devices_;
};

template <class Row>
void complete(Context& context, const EventCalls& calls_by_id, KnownStreams& streams,
              const Row& row) {
  Calls& calls = context.trace.calls;
  ProcessId process = context.process(context.pid_or_only(row.global_pid));
  CallId call =
      calls_by_id.find(process, static_cast<std::uint64_t>(row.correlation_id.value_or(0)));
  if (!call.valid()) return;
  calls.sync_id[call.value] = static_cast<std::uint64_t>(row.event_sync_id.value_or(0));
  // CUPTI writes -1 (as unsigned) for "no stream", as in a context synchronisation.
  if (row.stream_id >= 0) {
    calls.stream[call.value] = streams.find(context, process, row.device_id, row.stream_id);
  }
}

}  // namespace

void load_synchronization(Context& context) {
  bool events = context.db.has_table(tables::CudaEvent::name);
  bool waits = context.db.has_table(tables::Synchronization::name);
  if (!events && !waits) return;
  EventCalls calls(context.trace);
  KnownStreams streams(context.trace);
  using Record = tables::CudaEvent::Row;
  sqlite::Select<tables::CudaEvent, &Record::device_id, &Record::stream_id, &Record::correlation_id,
                 &Record::global_pid, &Record::event_sync_id>::run(context.db,
                                                                   [&](std::int64_t,
                                                                       const Record& row) {
                                                                     complete(context, calls,
                                                                              streams, row);
                                                                   });
  using Wait = tables::Synchronization::Row;
  sqlite::Select<tables::Synchronization, &Wait::device_id, &Wait::stream_id, &Wait::correlation_id,
                 &Wait::global_pid, &Wait::event_sync_id>::run(context.db,
                                                               context.first_row(
                                                                   tables::Synchronization::name),
                                                               INT64_MAX,
                                                               [&](std::int64_t, const Wait& row) {
                                                                 complete(context, calls, streams,
                                                                          row);
                                                               });
}

}  // namespace headway::trace::load_detail
