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

std::uint64_t on_enum_register(nvtxDomainHandle_t domain,
                               const nvtxPayloadEnumAttr_t* description) {
  Entry entry;
  if (!entry || !description) return 0;
  return define_enum(domain_of(nullptr, domain), *description);
}

std::uint64_t on_scope_register(nvtxDomainHandle_t domain, const nvtxScopeAttr_t* scope) {
  Entry entry;
  if (!entry || !scope) return NVTX_SCOPE_NONE;
  return define_scope(domain_of(nullptr, domain), *scope);
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
  set_extension_slot(segment, NVTX3EXT_CBID_nvtxScopeRegister, on_scope_register);
}

void install_extension(nvtxExtModuleInfo_t& module) {
  if (!module.segments || module.segmentsCount == 0) return;
  if (module.moduleId == NVTX_EXT_PAYLOAD_MODULEID) fill_payload_slots(module.segments[0]);
  if (module.moduleId == NVTX_EXT_COUNTERS_MODULEID) fill_counter_slots(module.segments[0]);
}

}  // namespace headway::inject
