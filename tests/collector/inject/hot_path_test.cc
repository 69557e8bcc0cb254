// SPDX-License-Identifier: MIT
// The inlined forms of push and pop put the same records as the general ones, or leave it to them.
#include "collector/inject/hot_path.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/inject/nvtx_handlers.h"
#include "collector/record/decode/record_view.h"
#include "tests/support/property.h"

namespace headway::inject {
namespace {

constexpr std::uint64_t kUnits = 256;

/// A thread's state with a ring of its own.
struct Thread {
  alignas(64) std::byte memory[kUnits * wire::kUnit] = {};
  wire::RingControl control{};
  ThreadState state{};
  explicit Thread(std::uint64_t begin = 0) {
    control.head.store(begin);
    control.tail.store(begin);
    state.ring = RingWriter(memory, kUnits, control);
  }

  struct Record {
    std::uint64_t words[3];
    std::string text;
    std::string blobs;
    friend bool operator==(const Record&, const Record&) = default;
  };
  /// Everything in the ring, but for the times.
  std::vector<Record> records() const {
    std::vector<std::byte> bytes;
    for (std::uint64_t unit = control.tail; unit != control.head; ++unit) {
      const std::byte* from = memory + unit % kUnits * wire::kUnit;
      bytes.insert(bytes.end(), from, from + wire::kUnit);
    }
    std::vector<Record> found;
    for (std::span<const std::byte> rest(bytes); !rest.empty();) {
      auto view = record::next_record(rest);
      REQUIRE(view.has_value());
      Record& record = found.emplace_back();
      const auto* raw = reinterpret_cast<const std::byte*>(&view->record);
      std::memcpy(record.words, raw + sizeof(std::uint64_t), sizeof record.words);
      record.text = view->text;
      record::for_each_blob(
          view->blobs, [&](std::uint64_t schema, std::span<const std::byte> blob) {
            record.blobs += std::to_string(schema) + ":";
            record.blobs.append(reinterpret_cast<const char*>(blob.data()), blob.size());
          });
    }
    return found;
  }
};

int push_generally(ThreadState& thread, std::uint16_t domain, const nvtxEventAttributes_t& event) {
  Event general = event_from(&thread, &event);
  return push(thread, domain, general);
}

int push_quickly(ThreadState& thread, std::uint16_t domain, const nvtxEventAttributes_t& event) {
  int level = -1;
  return push_registered(thread, domain, &event, level) ? level
                                                        : push_generally(thread, domain, event);
}

}  // namespace

TEST_CASE("hot path: texts of every length, at every distance from the end of a page") {
  constexpr std::size_t kPage = 4096;
  // A page behind which there is nothing: reading beyond the text there is fatal.
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(::mprotect(pages + kPage, kPage, PROT_NONE) == 0);
  for (std::size_t length = 0; length < 70; ++length) {
    for (std::size_t from_end : {length + 1, length + 2, length + 31, length + 32, length + 33}) {
      char* text = pages + kPage - from_end;
      std::memset(text, 'x', length);
      text[length] = '\0';
      auto quick = std::make_unique<Thread>();
      auto general = std::make_unique<Thread>();
      CHECK(push_text(quick->state, text) == 0);
      Event event;
      event.text = text;
      CHECK(push(general->state, 0, event) == 0);
      CHECK(pop_plain(quick->state, 0) == 0);
      Event none;
      CHECK(pop(general->state, 0, none) == 0);
      CAPTURE(length);
      CAPTURE(from_end);
      CHECK(quick->records() == general->records());
      CHECK(quick->records().front().text == std::string(length, 'x'));
    }
  }
  ::munmap(pages, 2 * kPage);
}

TEST_CASE("hot path: any attributes, nesting and room give what the general path gives") {
  test::check_property("pushes and pops", [](std::uint64_t seed) {
    auto begin = seed % (4 * kUnits);
    auto quick = std::make_unique<Thread>(begin);
    auto general = std::make_unique<Thread>(begin);
    std::vector<std::byte> payload(400);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7);
    for (int i = 0; i < 200; ++i) {
      auto domain = *rc::gen::element<std::uint16_t>(0, 1, 2, kNearDomains - 1, kNearDomains, 40);
      if (*rc::gen::inRange(0, 3) == 0) {
        Event none;
        RC_ASSERT(pop_plain(quick->state, domain) == pop(general->state, domain, none));
        continue;
      }
      nvtxPayloadData_t blob{
          *rc::gen::element<std::uint64_t>(1u << 24, 18),
          *rc::gen::element<std::size_t>(0, 8, 15, 16, 17, 48, 100, 239, 240, 241, 400),
          *rc::gen::inRange(0, 4) ? payload.data() : nullptr};
      nvtxEventAttributes_t event{};
      event.version = NVTX_VERSION;
      event.size = *rc::gen::element<std::uint16_t>(sizeof event, sizeof event, sizeof event, 8);
      event.category = *rc::gen::element<std::uint32_t>(0, 5, 0xffff, 0x10000);
      event.colorType = *rc::gen::element<std::int32_t>(NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB);
      event.color = 0xff00ff00;
      event.messageType = *rc::gen::element<std::int32_t>(
          NVTX_MESSAGE_TYPE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED, NVTX_MESSAGE_TYPE_ASCII,
          NVTX_MESSAGE_UNKNOWN);
      if (event.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
        event.message.registered = make_handle<nvtxStringHandle_t>(HandleKind::kString, 77);
      } else {
        event.message.ascii = "a text";
      }
      event.payloadType =
          *rc::gen::element<std::int32_t>(NVTX_PAYLOAD_UNKNOWN, NVTX_PAYLOAD_TYPE_INT64,
                                          static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT));
      event.payload.llValue = -5;
      if (event.payloadType == static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT)) {
        event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&blob);
        event.reserved0 = *rc::gen::element<std::int32_t>(0, 1, 1, 1);
      }
      RC_ASSERT(push_quickly(quick->state, domain, event) ==
                push_generally(general->state, domain, event));
      // The recorder comes by now and then.
      if (*rc::gen::inRange(0, 20) != 0) continue;
      RC_ASSERT(quick->records() == general->records());
      quick->control.tail.store(quick->control.head.load());
      general->control.tail.store(general->control.head.load());
    }
    RC_ASSERT(quick->records() == general->records());
    RC_ASSERT(quick->control.dropped.load() == general->control.dropped.load());
    RC_ASSERT(quick->state.open == general->state.open);
  });
}

}  // namespace headway::inject
