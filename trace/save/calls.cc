// SPDX-License-Identifier: MIT
// Trace::calls -> CUPTI_ACTIVITY_KIND_{RUNTIME,SYNCHRONIZATION,CUDA_EVENT}, ENUM_CUPTI_SYNC_TYPE
// and HEADWAY_CALL_DETAIL for CUDA, HEADWAY_DEVICE_CALL for other devices.
#include <algorithm>
#include <array>

#include "trace/load/cuda_api.h"
#include "trace/save/context.h"
#include "trace/tables/call_detail.h"
#include "trace/tables/cuda_event.h"
#include "trace/tables/device_call.h"
#include "trace/tables/enum_cupti_sync_type.h"
#include "trace/tables/runtime.h"
#include "trace/tables/synchronization.h"

namespace headway::trace::save_detail {
namespace {

std::optional<std::int64_t> nonzero(std::int64_t value) {
  if (value == 0) return std::nullopt;
  return value;
}

/// CUpti_ActivitySynchronizationType; 0: the call does not synchronise.
std::int32_t sync_type(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kEventSynchronize:
      return 1;
    case DeviceCallKind::kStreamWaitEvent:
      return 2;
    case DeviceCallKind::kStreamSynchronize:
      return 3;
    case DeviceCallKind::kDeviceSynchronize:
      return 4;
    default:
      return 0;
  }
}

class CallSaver {
 public:
  explicit CallSaver(Context& context) : context_(context), calls_(context.trace.calls) {
    const auto& devices = context.trace.devices;
    any_cuda_ = std::any_of(devices.begin(), devices.end(),
                            [](const Device& device) { return device.type == DeviceType::kCuda; });
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      bool cuda = calls_.stream[i].valid() ? context.is_cuda(calls_.stream[i]) : any_cuda_;
      if (cuda) {
        save_cuda(i);
      } else {
        save_own(i);
      }
    }
    if (any_synchronization_) save_sync_types();
  }

 private:
  /// Tools for Nsight Systems' exports join these names.
  void save_sync_types() {
    struct Name {
      std::int64_t id;
      std::string_view symbol;
      std::string_view label;
    };
    constexpr auto kNames = std::to_array<Name>({
        {0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
        {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
        {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
        {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
        {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
    });
    for (const Name& name : kNames)
      context_.writer.add<tables::EnumCuptiSyncType>({name.id, name.symbol, name.label});
  }

  void save_own(std::size_t i) {
    StreamId stream = calls_.stream[i];
    tables::DeviceCall::Row row;
    row.start = calls_.start[i].ns;
    row.end = calls_.end[i].ns;
    row.global_tid = context_.thread_key[calls_.thread[i].value];
    row.kind = static_cast<std::int32_t>(calls_.kind[i]);
    row.device_id = -1;
    if (stream.valid()) {
      const Stream& target = context_.trace.streams[stream.value];
      row.device_id = context_.trace.devices[target.device.value].ordinal;
      row.stream_id = target.ordinal;
    }
    row.correlation_id = nonzero(context_.correlation[i]);
    row.sync_id = nonzero(static_cast<std::int64_t>(calls_.sync_id[i]));
    row.name_id = context_.string(calls_.name[i]);
    row.bytes = calls_.bytes[i];
    context_.writer.add<tables::DeviceCall>(row);
  }

  void save_cuda(std::size_t i) {
    tables::Runtime::Row row;
    row.start = calls_.start[i].ns;
    row.end = calls_.end[i].ns;
    row.global_tid = context_.thread_key[calls_.thread[i].value];
    row.correlation_id = nonzero(context_.correlation[i]);
    row.name_id = context_.string(calls_.name[i]);
    std::string_view name = context_.trace.strings[calls_.name[i]];
    row.event_class = name.starts_with("cu") && !name.starts_with("cuda");  // 1: the driver API
    std::int64_t row_id = context_.writer.add<tables::Runtime>(row);

    bool synchronises = sync_type(calls_.kind[i]) != 0;
    bool records = calls_.kind[i] == DeviceCallKind::kEventRecord && calls_.sync_id[i] != 0;
    if (synchronises) save_synchronization(i);
    if (records) save_event(i);
    if (needs_detail(i)) save_detail(i, row_id);
  }

  /// False when a reader derives the same values from the CUPTI tables alone.
  bool needs_detail(std::size_t i) {
    DeviceOpId op = calls_.op[i];
    StreamId derived = op.valid() ? context_.trace.device_ops.stream[op.value] : StreamId::none();
    return calls_.stream[i] != derived || calls_.sync_id[i] != 0 || calls_.bytes[i] != 0 ||
           calls_.kind[i] != kind_of_name(calls_.name[i]);
  }

  DeviceCallKind kind_of_name(StringId name) {
    if (name.value >= kinds_.size()) kinds_.resize(context_.trace.strings.size());
    if (name.value >= kinds_.size()) return DeviceCallKind::kOther;
    std::optional<DeviceCallKind>& kind = kinds_[name.value];
    if (!kind) kind = load_detail::cuda_call_kind(context_.trace.strings[name]);
    return *kind;
  }

  void save_synchronization(std::size_t i) {
    any_synchronization_ = true;
    tables::Synchronization::Row row;
    row.start = calls_.start[i].ns;
    row.end = calls_.end[i].ns;
    row.stream_id = -1;
    StreamId stream = calls_.stream[i];
    if (stream.valid()) {
      const Stream& target = context_.trace.streams[stream.value];
      row.device_id = context_.trace.devices[target.device.value].ordinal;
      row.stream_id = target.ordinal;
    }
    row.global_pid = pid(i);
    row.correlation_id = nonzero(context_.correlation[i]);
    row.sync_type = sync_type(calls_.kind[i]);
    row.event_sync_id = nonzero(static_cast<std::int64_t>(calls_.sync_id[i]));
    context_.writer.add<tables::Synchronization>(row);
  }

  void save_event(std::size_t i) {
    tables::CudaEvent::Row row;
    row.stream_id = -1;  // no stream, as in synchronisation rows
    StreamId stream = calls_.stream[i];
    if (stream.valid()) {
      const Stream& target = context_.trace.streams[stream.value];
      row.device_id = context_.trace.devices[target.device.value].ordinal;
      row.stream_id = target.ordinal;
    }
    row.global_pid = pid(i);
    row.correlation_id = nonzero(context_.correlation[i]);
    row.event_sync_id = static_cast<std::int64_t>(calls_.sync_id[i]);
    context_.writer.add<tables::CudaEvent>(row);
  }

  void save_detail(std::size_t i, std::int64_t row_id) {
    tables::CallDetail::Row row;
    row.call_row = row_id;
    row.kind = static_cast<std::int64_t>(calls_.kind[i]);
    StreamId stream = calls_.stream[i];
    if (stream.valid()) {
      const Stream& target = context_.trace.streams[stream.value];
      row.device_type = context_.is_cuda(stream);
      row.stream_pid = context_.pid(stream);
      row.device_id = context_.trace.devices[target.device.value].ordinal;
      row.stream_id = target.ordinal;
    }
    row.sync_id = static_cast<std::int64_t>(calls_.sync_id[i]);
    row.bytes = calls_.bytes[i];
    context_.writer.add<tables::CallDetail>(row);
  }

  std::int64_t pid(std::size_t i) const {
    return context_.process_key[context_.trace.threads[calls_.thread[i].value].process.value];
  }

  Context& context_;
  const Calls& calls_;
  std::vector<std::optional<DeviceCallKind>> kinds_;
  bool any_cuda_ = false;
  bool any_synchronization_ = false;
};

}  // namespace

void save_calls(Context& context) {
  CallSaver{context};
}

}  // namespace headway::trace::save_detail
