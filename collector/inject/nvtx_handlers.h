// SPDX-License-Identifier: MIT
#pragma once

#include "collector/inject/event.h"
#include "collector/inject/handles.h"

namespace headway::inject {

/// Puts our functions into the tables of one copy of NVTX (each library that embeds it has its
/// own).
void install_handlers(NvtxGetExportTableFunc_t get_export_table);
/// Puts our functions into the slots of one NVTX extension; does nothing for an unknown extension.
void install_extension(nvtxExtModuleInfo_t& module);

/// Fill the slots for names (nvtx_names.cc, nvtx_resources.cc), waits for locks (nvtx_sync.cc) and
/// extensions (nvtx_payload.cc, nvtx_counters.cc).
void fill_name_slots(NvtxFunctionTable core, unsigned core_size, NvtxFunctionTable core2,
                     unsigned core2_size);
void fill_resource_slots(NvtxFunctionTable cuda, unsigned cuda_size, NvtxFunctionTable cudart,
                         unsigned cudart_size);
void fill_sync_slots(NvtxFunctionTable sync, unsigned sync_size);
/// Functions of the payload extension: schemas, enums, and events with payloads.
void fill_payload_slots(nvtxExtModuleSegment_t& segment);
/// Functions of the counter extension.
void fill_counter_slots(nvtxExtModuleSegment_t& segment);

template <class Function>
void set_extension_slot(nvtxExtModuleSegment_t& segment, std::size_t index, Function* function) {
  if (index < segment.slotCount)
    segment.functionSlots[index] = reinterpret_cast<std::intptr_t>(function);
}

/// Sets `*table[index]` if this copy of NVTX has it; older ones have fewer.
template <class Function>
void set_slot(NvtxFunctionTable table, unsigned size, unsigned index, Function* function) {
  if (table && index < size && table[index])
    *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

/// The index of a domain in records. A foreign handle is counted and becomes the default domain.
inline std::uint16_t domain_of(ThreadState* thread, nvtxDomainHandle_t handle) {
  if (!handle) return 0;
  std::uint32_t index = id_of(HandleKind::kDomain, handle);
  if (index != 0 && index < kMaxDomains) [[likely]]
    return static_cast<std::uint16_t>(index);
  if (thread) add_own(thread->ring.control().unknown_handles);
  return 0;
}

Event event_from(ThreadState* thread, const nvtxEventAttributes_t* attributes);
Event event_from(const nvtxPayloadData_t* blobs, std::size_t count);

// Events are passed by reference: copying an Event right after filling it in costs 15 ns.
void mark(ThreadState& thread, std::uint16_t domain, Event& event);
/// Begins a range that any thread may end. The id says whether the range's record was dropped.
nvtxRangeId_t start_range(ThreadState* thread, std::uint16_t domain, Event& event);
/// Ends the range, on any thread. May use the ring's reserve: a range whose end is lost would look as if it had
/// never ended.
void end_range(ThreadState* thread, std::uint16_t domain, nvtxRangeId_t id, Event& event);

}  // namespace headway::inject
