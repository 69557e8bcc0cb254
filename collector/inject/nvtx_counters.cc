// SPDX-License-Identifier: MIT
// NVTX's counters extension: samples of the program's own counters.
#include <bit>

#include "collector/inject/definitions.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

std::uint64_t on_counter_register(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* counter) {
  Entry entry;
  if (!entry || !counter) return NVTX_COUNTER_ID_NONE;
  return define_counter(domain_of(nullptr, domain), *counter);
}

/// Records a sample that is one number.
void put_number(nvtxDomainHandle_t domain, std::uint64_t counter, wire::PayloadKind kind,
                std::uint64_t bits) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  if (!thread->ring.has_room(1 + std::uint64_t{thread->open} + wire::kEndReserve))
    return thread->count_dropped();
  auto flags = static_cast<std::uint8_t>(static_cast<unsigned>(kind) << wire::kPayloadShift);
  thread->ring.put(now(thread->clock), {RecordWords::make_head(wire::RecordType::kCounter, flags, 0,
                                                               domain_of(thread, domain)),
                                        bits, counter});
  thread->ring.commit(1);
}

/// Records one sample of a counter group, in the layout of its schema.
void put_sample(ThreadState& thread, std::uint16_t domain, std::uint64_t counter,
                const void* sample, std::size_t size, std::uint64_t time) {
  if (!sample || size == 0 || size > wire::kMaxText) return thread.count_dropped();
  auto bytes = static_cast<std::uint32_t>(size);
  std::uint32_t units = 1 + wire::units_for(wire::padded(bytes));
  if (!thread.ring.has_room(units + std::uint64_t{thread.open} + wire::kEndReserve))
    return thread.count_dropped();
  thread.ring.put_extra(0, sample, bytes);
  thread.ring.put(time, {RecordWords::make_head(wire::RecordType::kCounter, wire::kTextInline,
                                                units - 1, domain),
                         bytes, counter});
  thread.ring.commit(units);
}

void on_sample_int64(nvtxDomainHandle_t domain, std::uint64_t counter, std::int64_t value) {
  put_number(domain, counter, wire::PayloadKind::kInt64, static_cast<std::uint64_t>(value));
}

void on_sample_float64(nvtxDomainHandle_t domain, std::uint64_t counter, double value) {
  put_number(domain, counter, wire::PayloadKind::kDouble, std::bit_cast<std::uint64_t>(value));
}

void on_sample(nvtxDomainHandle_t domain, std::uint64_t counter, const void* value,
               std::size_t size) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  put_sample(*thread, domain_of(thread, domain), counter, value, size, now(thread->clock));
}

/// Of the reasons only "it is zero" is a sample; the others say that there is no value.
void on_sample_no_value(nvtxDomainHandle_t domain, std::uint64_t counter, std::uint8_t reason) {
  if (reason == NVTX_COUNTER_SAMPLE_ZERO) put_number(domain, counter, wire::PayloadKind::kInt64, 0);
}

/// A batch whose samples each have a stamp of this library (nvtxTimestampGet). Samples whose stamps
/// come from unknown clocks, or lie inside the samples, are counted as dropped.
void on_batch(nvtxDomainHandle_t domain, const nvtxCounterBatch_t* batch) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread || !batch) return;
  std::size_t count = batch->timestamps ? batch->timestampsSize / sizeof(std::int64_t) : 0;
  if (count == 0 || !batch->counters || batch->countersSize % count != 0)
    return thread->count_dropped();
  std::size_t size = batch->countersSize / count;
  std::uint16_t index = domain_of(thread, domain);
  std::uint64_t latest = now(thread->clock);
  for (std::size_t i = 0; i < count; ++i) {
    auto time = static_cast<std::uint64_t>(batch->timestamps[i]);
    // Our stamps lie within the last minutes; a stamp of another clock does not.
    bool ours = time <= latest && latest - time < std::uint64_t{1} << 42;
    if (ours) {
      put_sample(*thread, index, batch->counterId,
                 static_cast<const std::byte*>(batch->counters) + i * size, size, time);
    } else {
      thread->count_dropped();
    }
  }
}

}  // namespace

void fill_counter_slots(nvtxExtModuleSegment_t& segment) {
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterRegister, on_counter_register);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleInt64, on_sample_int64);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleFloat64, on_sample_float64);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterSample, on_sample);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleNoValue, on_sample_no_value);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxCounterBatchSubmit, on_batch);
}

}  // namespace headway::inject
