// SPDX-License-Identifier: MIT
#pragma once

#include "collector/inject/event.h"
#include "collector/inject/handles.h"
#include "collector/inject/kept_texts.h"

/// For functions that programs call millions of times: they have no arrays on the stack, and a stack
/// guard would cost two of twenty nanoseconds.
#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define HEADWAY_HOT __attribute__((no_stack_protector))
#else
#define HEADWAY_HOT
#endif

/// Push and pop in their most frequent forms, inlined into the functions in NVTX's tables: no struct
/// in memory, no call, one test per special case. All special cases take the general path (event.h),
/// which writes the same records.
namespace headway::inject {

/// Bytes of the largest payload that is copied inline.
inline constexpr std::uint64_t kShortBlob = 240;

[[gnu::cold, gnu::noinline]] inline int push_any_text(ThreadState& thread, const char* text) {
  Event event;
  event.text = text;
  return push(thread, 0, event);
}

/// nvtxRangePushA.
[[gnu::always_inline]] inline int push_text(ThreadState& thread, const char* text) {
  DomainStack& stack = thread.near[0];
  if (text && may_read_unit(text) && stack.skipped == 0) [[likely]] {
    TextUnit unit = read_unit(text);
    std::uint32_t length = short_length(unit);
    // An empty text takes no unit behind the record: it takes the general path.
    if (length - 1 < kShortText - 1 && has_room_to_push(thread, 2)) [[likely]] {
      RingWriter& ring = thread.ring;
      put_unit(ring.second_unit(), unit);
      ++thread.open;
      ring.put(now(thread.clock),
               {RecordWords::make_head(wire::RecordType::kPush, wire::kTextInline, 1), length, 0});
      ring.commit(2);
      return static_cast<int>(stack.depth++);
    }
  }
  return push_any_text(thread, text);
}

/// nvtxDomainRangePushEx with a registered text, with or without a colour, and with no payload or one
/// short extended payload. False: the caller must take the general path.
[[gnu::always_inline]] inline bool push_registered(ThreadState& thread, std::uint32_t domain,
                                                   const nvtxEventAttributes_t* attributes,
                                                   int& level) {
  if (!attributes || attributes->size < sizeof *attributes || domain >= kNearDomains) return false;
  const nvtxEventAttributes_t& a = *attributes;
  std::uint32_t text = id_of(HandleKind::kString, a.message.registered);
  bool known = a.messageType == NVTX_MESSAGE_TYPE_REGISTERED && text != 0 &&
               (text & KeptTexts::kMark) == 0 && a.category <= 0xffff;
  DomainStack& stack = thread.near[domain];
  if (!known || stack.skipped != 0) [[unlikely]]
    return false;
  std::uint32_t units = 1;
  unsigned flags = wire::kTextHandle;
  std::uint64_t color = 0;
  if (a.colorType == NVTX_COLOR_ARGB) {
    flags |= wire::kHasColor;
    color = std::uint64_t{a.color} << 32;
  }
  const nvtxPayloadData_t* blob = nullptr;
  std::uint64_t payload = 0;
  if (a.payloadType == static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT)) {
    blob = reinterpret_cast<const nvtxPayloadData_t*>(a.payload.ullValue);
    if (!blob || a.reserved0 != 1 || !blob->payload || blob->size < 16 || blob->size > kShortBlob)
      return false;
    payload = sizeof(wire::BlobHeader) + wire::padded(static_cast<std::uint32_t>(blob->size));
    units += wire::units_for(static_cast<std::uint32_t>(payload));
    flags |= static_cast<unsigned>(wire::PayloadKind::kBlobs) << wire::kPayloadShift;
  } else if (a.payloadType != NVTX_PAYLOAD_UNKNOWN) {
    return false;
  }
  RingWriter& ring = thread.ring;
  if (!has_room_to_push(thread, units) || !ring.is_contiguous(units)) [[unlikely]]
    return false;
  if (blob) {
    // The size is read a second time: the program may have changed it since.
    auto bytes = static_cast<std::uint32_t>(payload - sizeof(wire::BlobHeader));
    auto size = static_cast<std::uint32_t>(blob->size);
    if (size > bytes || size < 16) return false;
    ring.put_words(0, blob->schemaId, size);
    copy_short(ring.second_unit() + sizeof(wire::BlobHeader), blob->payload, size);
  }
  ++thread.open;
  ring.put(now(thread.clock),
           {RecordWords::make_head(wire::RecordType::kPush, static_cast<std::uint8_t>(flags),
                                   units - 1, static_cast<std::uint16_t>(domain), a.category),
            text | color, payload});
  ring.commit(units);
  level = static_cast<int>(stack.depth++);
  return true;
}

/// nvtxRangePop and nvtxDomainRangePop.
[[gnu::always_inline]] inline int pop_plain(ThreadState& thread, std::uint32_t domain) {
  std::uint64_t time = now(thread.clock);  // first: the range ends when we are called
  if (domain < kNearDomains) [[likely]] {
    DomainStack& stack = thread.near[domain];
    if (stack.skipped == 0 && stack.depth != 0) [[likely]]
      return put_pop(thread, static_cast<std::uint16_t>(domain), stack, time);
  }
  Event none;
  return pop(thread, static_cast<std::uint16_t>(domain), none);
}

}  // namespace headway::inject
