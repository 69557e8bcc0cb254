// SPDX-License-Identifier: MIT
#include "collector/record/decode/activity_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collector/record/decode/kernel_names.h"
#include "common/text.h"
#include "trace/tables/cuda_event.h"
#include "trace/tables/graph_trace.h"
#include "trace/tables/kernel.h"
#include "trace/tables/kernel_latency.h"
#include "trace/tables/memcpy.h"
#include "trace/tables/memset.h"
#include "trace/tables/overhead.h"
#include "trace/tables/runtime.h"
#include "trace/tables/synchronization.h"

namespace headway::record {
namespace {

using trace::Loss;
using wire::ActivityKind;
namespace activity = wire::activity;
namespace tables = trace::tables;

/// ENUM_NSYS_EVENT_CLASS of overheads.
constexpr std::int32_t kOverheadClass = 103;
constexpr DurationNs kTolerance{1'000'000};
/// CUPTI's clock and the clock of the ranges agree to within this: the distance of two clock readings
/// on a busy machine.
constexpr DurationNs kClocksDiffer{1'000};

/// Converts CUPTI's overhead kind: 1 is the compiler; the other kinds have 1, 2, 3 … in the upper
/// half.
std::int32_t overhead_type(std::uint32_t of_cupti) {
  return of_cupti == 1 ? 2 : static_cast<std::int32_t>(of_cupti >> 16) + 2;
}

template <class Record>
Record read_as(std::span<const std::byte> bytes) {
  Record record{};
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  return record;
}

/// The time that decides to which step a call belongs. The first call of a step begins some 30 ns
/// after the step's range, so by CUPTI's clock it may seem to begin before the range. A call cannot
/// cross the border of a range on its thread, so a moment shortly after the call's begin decides.
TimeNs surely_within(Interval call) {
  return std::min(call.end, call.begin + kClocksDiffer);
}

/// Calls `each(kind, bytes)` for the records of a buffer; false when it could not be read to its end.
template <class Each>
bool for_each_activity(std::span<const std::byte> bytes, bool partial,
                       std::span<const std::uint16_t> strides, Each each) {
  while (bytes.size() >= sizeof(std::uint32_t)) {
    std::uint32_t number;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (number == 0 && partial) return true;
    const std::size_t stride = number < strides.size() ? strides[number] : 0;
    // A kind whose record size is not known (no complete buffer had it), or damage.
    if (stride < sizeof(std::uint64_t) || stride > bytes.size()) return false;
    each(static_cast<ActivityKind>(number), bytes.first(stride));
    bytes = bytes.subspan(stride);
  }
  return true;
}

}  // namespace

std::int64_t GpuNumbers::of(std::string_view uuid) {
  auto known = numbers_.find(uuid);
  if (known != numbers_.end()) return known->second;
  auto number = static_cast<std::int64_t>(numbers_.size());
  numbers_.emplace(uuid, number);
  return number;
}

void ActivityDecoder::read(const SegmentData& data) {
  strides_ = data.strides;
  std::span<const std::byte> bytes(data.activity);
  for (const ActivityBuffer& buffer : data.buffers)
    read_buffer(bytes.subspan(buffer.offset, buffer.bytes), buffer.partial);
}

void ActivityDecoder::read_buffer(std::span<const std::byte> bytes, bool partial) {
  const bool whole = for_each_activity(
      bytes, partial, strides_,
      [&](ActivityKind kind, std::span<const std::byte> record) { read_record(kind, record); });
  if (!whole) sink_.count_loss(Loss::kCuptiDropped, 1, global_pid(pid_));
}

void ActivityDecoder::note_calls(const SegmentData& data) {
  std::span<const std::byte> bytes(data.activity);
  for (const ActivityBuffer& buffer : data.buffers) {
    for_each_activity(bytes.subspan(buffer.offset, buffer.bytes), buffer.partial, data.strides,
                      [&](ActivityKind kind, std::span<const std::byte> record) {
                        if (kind != ActivityKind::kRuntime && kind != ActivityKind::kDriver) return;
                        const auto call = read_as<activity::Api>(record);
                        if (call.start > call.end || call.end > INT64_MAX) return;
                        const Interval when{
                            axis_.from_realtime(static_cast<std::int64_t>(call.start)),
                            axis_.from_realtime(static_cast<std::int64_t>(call.end))};
                        scope_.note_call(pid_, surely_within(when), call.correlation);
                      });
  }
}

void ActivityDecoder::read_record(ActivityKind kind, std::span<const std::byte> record) {
  switch (kind) {
    case ActivityKind::kRuntime:
    case ActivityKind::kDriver:
      return write(read_as<activity::Api>(record), kind == ActivityKind::kDriver);
    case ActivityKind::kKernel:
      return write(read_as<activity::Kernel>(record));
    case ActivityKind::kMemcpy:
      return write(read_as<activity::Memcpy>(record));
    case ActivityKind::kMemcpyPeer:
      return write(read_as<activity::MemcpyPeer>(record));
    case ActivityKind::kMemset:
      return write(read_as<activity::Memset>(record));
    case ActivityKind::kSynchronization:
      return write(read_as<activity::Synchronization>(record));
    case ActivityKind::kCudaEvent:
      return write(read_as<activity::CudaEvent>(record));
    case ActivityKind::kOverhead:
      return write(read_as<activity::Overhead>(record));
    case ActivityKind::kGraphTrace:
      return write(read_as<activity::GraphTrace>(record));
    case ActivityKind::kMemory:
      return write(read_as<activity::Memory>(record));
    case ActivityKind::kMemoryPool:
      return write(read_as<activity::MemoryPool>(record));
    case ActivityKind::kEnvironment:
      return write(read_as<activity::Environment>(record));
    case ActivityKind::kDevice:
      return write(read_as<activity::Device>(record));
    case ActivityKind::kStream:
      return write(read_as<activity::Stream>(record));
    case ActivityKind::kContext: {
      auto context = read_as<activity::Context>(record);
      devices_[context.context] = static_cast<std::int32_t>(context.device);
      return;
    }
    case ActivityKind::kInvalid:
      return;
  }
}

std::optional<Interval> ActivityDecoder::interval_of(std::uint64_t start, std::uint64_t end) {
  const TimeNs latest = axis_.from_monotonic(axis_.newest().monotonic_ns) + kTolerance;
  if (start != 0 && end >= start && end <= INT64_MAX) {
    TimeNs from = axis_.from_realtime(static_cast<std::int64_t>(start));
    TimeNs to = axis_.from_realtime(static_cast<std::int64_t>(end));
    if (from.ns >= 0 && to <= latest) return Interval{from, std::max(from, to)};
  }
  // A zero time: the op had not begun or ended when the process died, or CUPTI lost the time.
  sink_.count_loss(start == 0 || end == 0 ? Loss::kCuptiDropped : Loss::kTimeOutOfRange, 1,
                   global_pid(pid_));
  return std::nullopt;
}

template <class Row>
bool ActivityDecoder::set_times(Row& row, std::uint64_t start, std::uint64_t end,
                                std::uint32_t launch) {
  const std::optional<Interval> when = interval_of(start, end);
  if (!when || !scope_.keeps_launched(pid_, surely_within(*when), launch)) return false;
  row.start = when->begin.ns;
  row.end = when->end.ns;
  return true;
}

std::optional<std::int64_t> ActivityDecoder::time_of(std::uint64_t stamp) {
  struct {
    std::int64_t start = 0;
    std::int64_t end = 0;
  } times;
  if (!set_times(times, stamp, stamp)) return std::nullopt;
  return times.start;
}

std::int64_t ActivityDecoder::global_tid(std::uint32_t tid) {
  if (tid != last_tid_) processes_.thread_seen(pid_, static_cast<std::int32_t>(tid));
  last_tid_ = tid;
  return global_pid(pid_) | (tid & 0xffffff);
}

trace::StringId ActivityDecoder::call_name(bool driver, std::uint32_t cbid) {
  auto [slot, is_new] = calls_.try_emplace(wire::callback_id(driver, cbid));
  if (!is_new) return slot->second;
  const std::string* name = definitions_.callback(slot->first);
  trace::StringId id =
      sink_.intern(name ? *name : fmt::format("{} call {}", driver ? "driver" : "runtime", cbid));
  // An unknown name may still be defined later.
  if (name) return slot->second = id;
  calls_.erase(slot);
  return id;
}

const ActivityDecoder::Name& ActivityDecoder::kernel_name(std::uint64_t address) {
  auto [slot, is_new] = names_.try_emplace(address);
  Name& name = slot->second;
  if (!is_new && name.address == address) return name;
  const std::string* text = definitions_.at_address(address);
  const std::string mangled = text ? *text : fmt::format("kernel@{:#x}", address);
  const std::string demangled = demangle(mangled);
  name.demangled = sink_.intern(demangled);
  name.base = sink_.intern(base_name(demangled));
  name.mangled = sink_.intern(mangled);
  if (text) name.address = address;  // an unknown name may be defined later
  return name;
}

std::int32_t ActivityDecoder::device_of(std::uint32_t context) const {
  auto found = devices_.find(context);
  return found == devices_.end() ? 0 : found->second;
}

void ActivityDecoder::write(const activity::Api& record, bool driver) {
  tables::Runtime::Row row;
  if (!set_times(row, record.start, record.end)) return;
  row.event_class = driver;
  row.global_tid = global_tid(record.thread);
  row.correlation_id = record.correlation;
  row.name_id = call_name(driver, record.cbid);
  row.return_value = static_cast<std::int32_t>(record.return_value);
  sink_.add<tables::Runtime>(row);
  ++events_;
}

namespace {

template <class Row, class Record>
void set_place(Row& row, const Record& record, std::int32_t pid) {
  row.device_id = static_cast<std::int32_t>(record.device);
  row.context_id = static_cast<std::int32_t>(record.context);
  row.stream_id = static_cast<std::int32_t>(record.stream);
  row.correlation_id = record.correlation;
  row.global_pid = global_pid(pid);
}

std::optional<std::int64_t> if_any(std::uint64_t id) {
  if (id == 0) return std::nullopt;
  return static_cast<std::int64_t>(id);
}

}  // namespace

void ActivityDecoder::write(const activity::Kernel& record) {
  tables::Kernel::Row row;
  if (!set_times(row, record.start, record.end, record.correlation)) return;
  set_place(row, record, pid_);
  const Name& name = kernel_name(record.name);
  row.demangled_name = name.demangled;
  row.short_name = name.base;
  row.mangled_name = name.mangled;
  row.registers_per_thread = record.registers_per_thread;
  row.grid_x = record.grid[0];
  row.grid_y = record.grid[1];
  row.grid_z = record.grid[2];
  row.block_x = record.block[0];
  row.block_y = record.block[1];
  row.block_z = record.block[2];
  row.static_shared_memory = record.static_shared_memory;
  row.dynamic_shared_memory = record.dynamic_shared_memory;
  row.local_memory_per_thread = static_cast<std::int32_t>(record.local_memory_per_thread);
  row.graph_node_id = if_any(record.graph_node);
  row.graph_id = if_any(record.graph);
  const std::int64_t id = sink_.add<tables::Kernel>(row);
  ++events_;
  if (record.queued == 0 && record.submitted == 0) return;
  tables::KernelLatency::Row latency;
  latency.kernel_row = id;
  if (record.queued != 0) latency.queued = time_of(record.queued);
  if (record.submitted != 0) latency.submitted = time_of(record.submitted);
  if (id != 0) sink_.add<tables::KernelLatency>(latency);
}

void ActivityDecoder::write(const activity::Memcpy& record) {
  tables::Memcpy::Row row;
  if (!set_times(row, record.start, record.end, record.correlation)) return;
  set_place(row, record, pid_);
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.copy_kind = record.copy_kind;
  row.src_kind = memory_kind(record.source_kind);
  row.dst_kind = memory_kind(record.destination_kind);
  row.graph_node_id = if_any(record.graph_node);
  sink_.add<tables::Memcpy>(row);
  ++events_;
}

void ActivityDecoder::write(const activity::MemcpyPeer& record) {
  tables::Memcpy::Row row;
  if (!set_times(row, record.start, record.end, record.correlation)) return;
  set_place(row, record, pid_);
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.copy_kind = record.copy_kind;
  row.src_kind = memory_kind(record.source_kind);
  row.dst_kind = memory_kind(record.destination_kind);
  row.src_device_id = record.source_device;
  row.dst_device_id = record.destination_device;
  row.graph_node_id = if_any(record.graph_node);
  sink_.add<tables::Memcpy>(row);
  ++events_;
}

void ActivityDecoder::write(const activity::Memset& record) {
  tables::Memset::Row row;
  if (!set_times(row, record.start, record.end, record.correlation)) return;
  set_place(row, record, pid_);
  row.value = record.value;
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.mem_kind = memory_kind(record.memory_kind);
  row.graph_node_id = if_any(record.graph_node);
  sink_.add<tables::Memset>(row);
  ++events_;
}

void ActivityDecoder::write(const activity::Synchronization& record) {
  tables::Synchronization::Row row;
  if (!set_times(row, record.start, record.end)) return;
  row.device_id = device_of(record.context);
  row.context_id = static_cast<std::int32_t>(record.context);
  // CUPTI_SYNCHRONIZATION_INVALID_VALUE: a wait for a context or an event is on no stream.
  row.stream_id = record.stream == UINT32_MAX ? 0 : static_cast<std::int32_t>(record.stream);
  row.correlation_id = record.correlation;
  row.global_pid = global_pid(pid_);
  row.sync_type = static_cast<std::int32_t>(record.type);
  row.event_id = record.event == UINT32_MAX ? 0 : record.event;
  row.event_sync_id = if_any(record.event_sync);
  sink_.add<tables::Synchronization>(row);
  ++events_;
}

void ActivityDecoder::write(const activity::CudaEvent& record) {
  // The record has no time; the call that made it has.
  const TimeNs now = axis_.from_monotonic(axis_.newest().monotonic_ns);
  if (!scope_.keeps_launched(pid_, now, record.correlation)) return;
  tables::CudaEvent::Row row;
  row.device_id = device_of(record.context);
  row.context_id = static_cast<std::int32_t>(record.context);
  row.stream_id = static_cast<std::int32_t>(record.stream);
  row.correlation_id = record.correlation;
  row.global_pid = global_pid(pid_);
  row.event_id = record.event;
  row.event_sync_id = if_any(record.event_sync);
  sink_.add<tables::CudaEvent>(row);
}

void ActivityDecoder::write(const activity::Overhead& record) {
  tables::Overhead::Row row;
  if (!set_times(row, record.start, record.end)) return;
  row.event_class = kOverheadClass;
  row.global_tid = global_pid(pid_) | (record.thread & 0xffffff);
  row.overhead_type = overhead_type(record.overhead_kind);
  sink_.add<tables::Overhead>(row);
}

void ActivityDecoder::write(const activity::GraphTrace& record) {
  tables::GraphTrace::Row row;
  if (!set_times(row, record.start, record.end, record.correlation)) return;
  set_place(row, record, pid_);
  row.graph_id = record.graph;
  sink_.add<tables::GraphTrace>(row);
  ++events_;
}

}  // namespace headway::record
