// SPDX-License-Identifier: MIT
// NVTX's payload extension: schemas, and events whose attributes are payloads.
#include "collector/inject/definitions.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

std::uint64_t on_schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  Entry entry;
  if (!entry || !schema) return 0;
  return define_schema(domain_of(nullptr, domain), *schema);
}

/// Enumerations are not kept; the program gets the id that its schemas refer to.
std::uint64_t on_enum_register(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t* description) {
  constexpr std::uint64_t kAnonymous = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START - 1;
  bool given =
      description && (description->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
  return given ? description->schemaId : kAnonymous;
}

void on_mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* blobs, std::size_t count) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  Event event = event_from(blobs, count);
  mark(*thread, domain_of(thread, domain), event);
}

int on_push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* blobs, std::size_t count) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return NVTX_NO_PUSH_POP_TRACKING;
  Event event = event_from(blobs, count);
  return push(*thread, domain_of(thread, domain), event);
}

int on_pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* blobs, std::size_t count) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return NVTX_NO_PUSH_POP_TRACKING;
  Event event = event_from(blobs, count);
  return pop(*thread, domain_of(thread, domain), event);
}

nvtxRangeId_t on_start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* blobs,
                               std::size_t count) {
  Entry entry;
  ThreadState* thread = entry.thread();
  Event event = event_from(blobs, count);
  return start_range(thread, domain_of(thread, domain), event);
}

void on_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* blobs,
                    std::size_t count) {
  Entry entry;
  ThreadState* thread = entry.thread();
  Event event = event_from(blobs, count);
  end_range(thread, domain_of(thread, domain), id, event);
}

std::uint8_t on_domain_is_enabled(nvtxDomainHandle_t) {
  return 1;
}

template <class Function>
void set_extension_slot(nvtxExtModuleSegment_t& segment, std::size_t index, Function* function) {
  if (index < segment.slotCount)
    segment.functionSlots[index] = reinterpret_cast<std::intptr_t>(function);
}

}  // namespace

Event event_from(const nvtxPayloadData_t* blobs, std::size_t count) {
  Event event;
  if (!blobs || count == 0) return event;
  event.payload_kind = wire::PayloadKind::kBlobs;
  event.blobs = blobs;
  event.blob_count = static_cast<std::uint32_t>(count < UINT32_MAX ? count : UINT32_MAX);
  return event;
}

// The slots' numbers have been stable since the extension's version 1.1 (compatId 0x0101);
// NCCL 2.28 registers with 0x0103, the CUDA 13 headers with 0x0104.
void fill_payload_slots(nvtxExtModuleSegment_t& segment) {
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, on_schema_register);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxPayloadEnumRegister, on_enum_register);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxMarkPayload, on_mark_payload);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxRangePushPayload, on_push_payload);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxRangePopPayload, on_pop_payload);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxRangeStartPayload, on_start_payload);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxRangeEndPayload, on_end_payload);
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxDomainIsEnabled, on_domain_is_enabled);
}

void install_extension(nvtxExtModuleInfo_t& module) {
  if (module.moduleId != NVTX_EXT_PAYLOAD_MODULEID || !module.segments) return;
  if (module.segmentsCount > 0) fill_payload_slots(module.segments[0]);
}

}  // namespace headway::inject
