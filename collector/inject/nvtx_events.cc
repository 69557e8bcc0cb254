// SPDX-License-Identifier: MIT
// NVTX calls that are events: marks, push/pop ranges, start/end ranges, of the default domain
// (core) and of any domain (core2). These are the hot path.
#include "collector/inject/definitions.h"
#include "collector/inject/hot_path.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

// Id of a start/end range: generation | ring | number on that ring, so that ids are unique in a
// process and differ from those that a forked child makes.
constexpr unsigned kSlotBits = 10;
constexpr unsigned kNumberBits = 38;
constexpr std::uint64_t kDropped = std::uint64_t{1} << 63;
static_assert(wire::kMaxRings == 1u << kSlotBits);

void set_text(Event& event, const char* text) {
  event.text = text;
}
void set_text(Event& event, const wchar_t* text) {
  event.wide = text;
}

[[gnu::cold, gnu::noinline]] int push_any(ThreadState& thread, nvtxDomainHandle_t domain,
                                          const nvtxEventAttributes_t* attributes) {
  Event event = event_from(&thread, attributes);
  return push(thread, domain_of(&thread, domain), event);
}

void mark_event(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  Event event = event_from(thread, attributes);
  mark(*thread, domain_of(thread, domain), event);
}

template <class Char>
void mark_text(const Char* text) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  Event event;
  set_text(event, text);
  mark(*thread, 0, event);
}

template <class Char>
nvtxRangeId_t start_text(const Char* text) {
  Entry entry;
  Event event;
  set_text(event, text);
  return start_range(entry.thread(), 0, event);
}

// The functions in NVTX's tables.
void on_mark_ex(const nvtxEventAttributes_t* attributes) {
  mark_event(nullptr, attributes);
}
void on_mark_a(const char* text) {
  mark_text(text);
}
void on_mark_w(const wchar_t* text) {
  mark_text(text);
}
nvtxRangeId_t on_domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Entry entry;
  ThreadState* thread = entry.thread();
  Event event = event_from(thread, attributes);
  return start_range(thread, domain_of(thread, domain), event);
}
nvtxRangeId_t on_start_ex(const nvtxEventAttributes_t* attributes) {
  return on_domain_start(nullptr, attributes);
}
nvtxRangeId_t on_start_a(const char* text) {
  return start_text(text);
}
nvtxRangeId_t on_start_w(const wchar_t* text) {
  return start_text(text);
}
void on_end(nvtxRangeId_t id) {
  Entry entry;
  Event event;
  end_range(entry.thread(Entry::Call::kEnd), 0, id, event);
}
void on_domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) {
  on_end(id);
}
// The hot functions have no lambdas: a lambda that is not inlined passes its captures in memory.
HEADWAY_HOT int on_domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  std::uint32_t index = domain ? id_of(HandleKind::kDomain, domain) : 0;
  bool known = !domain || index != 0;  // else a foreign handle, to be counted
  int level;
  if (known && push_registered(*thread, index, attributes, level)) [[likely]]
    return level;
  return push_any(*thread, domain, attributes);
}
int on_push_ex(const nvtxEventAttributes_t* attributes) {
  return on_domain_push(nullptr, attributes);
}
HEADWAY_HOT int on_push_a(const char* text) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  return push_text(*thread, text);
}
int on_push_w(const wchar_t* text) {
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return NVTX_NO_PUSH_POP_TRACKING;
  Event event;
  event.wide = text;
  return push(*thread, 0, event);
}
HEADWAY_HOT int on_pop() {
  Entry entry;
  ThreadState* thread = entry.thread(Entry::Call::kEnd);
  if (!thread) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  return pop_plain(*thread, 0);
}
HEADWAY_HOT int on_domain_pop(nvtxDomainHandle_t domain) {
  Entry entry;
  ThreadState* thread = entry.thread(Entry::Call::kEnd);
  if (!thread) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  return pop_plain(*thread, domain_of(thread, domain));
}
void on_domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  mark_event(domain, attributes);
}

NvtxFunctionTable table_of(NvtxGetExportTableFunc_t get_export_table, NvtxCallbackModule module,
                           unsigned& size) {
  auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(module, &table, &size)) return nullptr;
  return table;
}

}  // namespace

Event event_from(ThreadState* thread, const nvtxEventAttributes_t* attributes) {
  Event event;
  if (!attributes || attributes->size < sizeof *attributes) return event;
  event.category = attributes->category;
  if (attributes->colorType == NVTX_COLOR_ARGB) {
    event.has_color = true;
    event.color = attributes->color;
  }
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      event.text = attributes->message.ascii;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      event.wide = attributes->message.unicode;
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      event.handle = id_of(HandleKind::kString, attributes->message.registered);
      if (event.handle & KeptTexts::kMark) [[unlikely]] {
        event.text = kept_text(event.handle);
        event.handle = 0;
        if (event.text) break;
      }
      if (event.handle == 0 && thread) add_own(thread->ring.control().unknown_handles);
      break;
    default:
      break;
  }
  std::uint64_t value = attributes->payload.ullValue;
  switch (attributes->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      event.payload_kind = wire::PayloadKind::kUint64;
      break;
    case NVTX_PAYLOAD_TYPE_INT64:
      event.payload_kind = wire::PayloadKind::kInt64;
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      event.payload_kind = wire::PayloadKind::kDouble;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      event.payload_kind = wire::PayloadKind::kUint32;
      value &= 0xffffffff;
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      event.payload_kind = wire::PayloadKind::kInt32;
      value &= 0xffffffff;
      break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      event.payload_kind = wire::PayloadKind::kFloat;
      value &= 0xffffffff;
      break;
    case NVTX_PAYLOAD_TYPE_EXT:
      event.blobs = reinterpret_cast<const nvtxPayloadData_t*>(value);
      event.blob_count = static_cast<std::uint32_t>(attributes->reserved0);
      if (event.blobs && attributes->reserved0 > 0) event.payload_kind = wire::PayloadKind::kBlobs;
      return event;
    default:
      return event;
  }
  event.payload = value;
  return event;
}

void mark(ThreadState& thread, std::uint16_t domain, Event& event) {
  Shape shape = measure(wire::RecordType::kMark, event);
  if (thread.ring.has_room(shape.units() + std::uint64_t{thread.open} + wire::kEndReserve)) {
    write(thread, wire::RecordType::kMark, domain, event, shape, 0);
  } else {
    thread.count_dropped();
  }
}

nvtxRangeId_t start_range(ThreadState* thread, std::uint16_t domain, Event& event) {
  if (!thread) return kDropped;
  std::uint64_t id = std::uint64_t{thread->generation} << (kSlotBits + kNumberBits) & ~kDropped;
  id |= std::uint64_t{thread->slot} << kNumberBits;
  id |= ++thread->ranges & ((std::uint64_t{1} << kNumberBits) - 1);
  Shape shape = measure(wire::RecordType::kStart, event);
  if (!thread->ring.has_room(shape.units() + std::uint64_t{thread->open} + wire::kEndReserve)) {
    thread->count_dropped();
    return id | kDropped;
  }
  write(*thread, wire::RecordType::kStart, domain, event, shape, id);
  return id;
}

void end_range(ThreadState* thread, std::uint16_t domain, nvtxRangeId_t id, Event& event) {
  if (!thread) return;
  if (id & kDropped) {
    thread->count_dropped_end();
    return;
  }
  Shape shape = measure(wire::RecordType::kEnd, event);
  // An end may use the ring's reserve: a range whose end is lost would look as if it had never
  // ended.
  if (thread->ring.has_room(shape.units() + std::uint64_t{thread->open})) {
    write(*thread, wire::RecordType::kEnd, domain, event, shape, id);
  } else {
    thread->count_dropped();
  }
}

void install_handlers(NvtxGetExportTableFunc_t get_export_table) {
  unsigned core_size = 0;
  unsigned core2_size = 0;
  NvtxFunctionTable core = table_of(get_export_table, NVTX_CB_MODULE_CORE, core_size);
  NvtxFunctionTable core2 = table_of(get_export_table, NVTX_CB_MODULE_CORE2, core2_size);
  set_slot(core, core_size, NVTX_CBID_CORE_MarkEx, on_mark_ex);
  set_slot(core, core_size, NVTX_CBID_CORE_MarkA, on_mark_a);
  set_slot(core, core_size, NVTX_CBID_CORE_MarkW, on_mark_w);
  set_slot(core, core_size, NVTX_CBID_CORE_RangeStartEx, on_start_ex);
  set_slot(core, core_size, NVTX_CBID_CORE_RangeStartA, on_start_a);
  set_slot(core, core_size, NVTX_CBID_CORE_RangeStartW, on_start_w);
  set_slot(core, core_size, NVTX_CBID_CORE_RangeEnd, on_end);
  set_slot(core, core_size, NVTX_CBID_CORE_RangePushEx, on_push_ex);
  set_slot(core, core_size, NVTX_CBID_CORE_RangePushA, on_push_a);
  set_slot(core, core_size, NVTX_CBID_CORE_RangePushW, on_push_w);
  set_slot(core, core_size, NVTX_CBID_CORE_RangePop, on_pop);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainMarkEx, on_domain_mark);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRangeStartEx, on_domain_start);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRangeEnd, on_domain_end);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRangePushEx, on_domain_push);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRangePop, on_domain_pop);
  fill_name_slots(core, core_size, core2, core2_size);
  unsigned sizes[3] = {};
  NvtxFunctionTable cuda = table_of(get_export_table, NVTX_CB_MODULE_CUDA, sizes[0]);
  NvtxFunctionTable cudart = table_of(get_export_table, NVTX_CB_MODULE_CUDART, sizes[1]);
  fill_resource_slots(cuda, sizes[0], cudart, sizes[1]);
  NvtxFunctionTable sync = table_of(get_export_table, NVTX_CB_MODULE_SYNC, sizes[2]);
  fill_sync_slots(sync, sizes[2]);
}

}  // namespace headway::inject
