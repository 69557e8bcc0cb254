// SPDX-License-Identifier: MIT
// CUPTI tells stream and event of a synchronising call, and the event of a record, in rows of their
// own, joined by correlation id: CUPTI_ACTIVITY_KIND_{SYNCHRONIZATION,CUDA_EVENT}.
#include <algorithm>

#include "trace/load/context.h"
#include "trace/tables/cuda_event.h"
#include "trace/tables/synchronization.h"

namespace headway::trace::load_detail {
namespace {

/// The calls that such a row may belong to, by process and correlation id.
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

  /// The last call with this id, like link(); none when there is none.
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

template <class Row>
void complete(Context& context, const EventCalls& calls_by_id, const Row& row) {
  Calls& calls = context.trace.calls;
  ProcessId process = context.process(context.pid_or_only(row.global_pid));
  CallId call =
      calls_by_id.find(process, static_cast<std::uint64_t>(row.correlation_id.value_or(0)));
  if (!call.valid()) return;
  calls.sync_id[call.value] = static_cast<std::uint64_t>(row.event_sync_id.value_or(0));
  // CUPTI writes -1 (as unsigned) for "no stream", a context synchronisation.
  if (row.stream_id >= 0) {
    calls.stream[call.value] =
        context.stream(context.cuda_device(process, row.device_id), process, row.stream_id);
  }
}

}  // namespace

void load_synchronization(Context& context) {
  bool events = context.db.has_table(tables::CudaEvent::name);
  bool waits = context.db.has_table(tables::Synchronization::name);
  if (!events && !waits) return;
  EventCalls calls(context.trace);
  using Record = tables::CudaEvent::Row;
  sqlite::Select<tables::CudaEvent, &Record::device_id, &Record::stream_id, &Record::correlation_id,
                 &Record::global_pid, &Record::event_sync_id>::run(context.db,
                                                                   [&](std::int64_t,
                                                                       const Record& row) {
                                                                     complete(context, calls, row);
                                                                   });
  using Wait = tables::Synchronization::Row;
  sqlite::Select<tables::Synchronization, &Wait::device_id, &Wait::stream_id, &Wait::correlation_id,
                 &Wait::global_pid, &Wait::event_sync_id>::run(context.db,
                                                               [&](std::int64_t, const Wait& row) {
                                                                 complete(context, calls, row);
                                                               });
}

}  // namespace headway::trace::load_detail
