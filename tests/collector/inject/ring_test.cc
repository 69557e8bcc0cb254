// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "collector/inject/event.h"
#include "collector/record/decode/record_view.h"

namespace headway::inject {
namespace {

/// A ring in ordinary memory, with the consumer's side of the protocol.
struct TestRing {
  explicit TestRing(std::uint64_t ring_units) : units(ring_units), data(ring_units * wire::kUnit) {
    state.ring = RingWriter(data.data(), units, control);
    state.clock = wire::Clock::kRealtime;
  }
  /// What is there, copied out, and given back to the producer.
  std::vector<std::byte> drain() {
    std::uint64_t head = control.head.load(std::memory_order_acquire);
    std::vector<std::byte> bytes;
    for (std::uint64_t unit = tail; unit < head; ++unit) {
      const std::byte* at = data.data() + unit % units * wire::kUnit;
      bytes.insert(bytes.end(), at, at + wire::kUnit);
    }
    tail = head;
    control.tail.store(tail, std::memory_order_release);
    return bytes;
  }

  std::uint64_t units;
  std::vector<std::byte> data;
  wire::RingControl control{};
  ThreadState state{};
  std::uint64_t tail = 0;
};

Event text_event(const char* text) {
  Event event;
  event.text = text;
  return event;
}

}  // namespace

TEST_CASE("what one thread writes another reads in order, around the end of the ring") {
  auto ring = std::make_unique<TestRing>(256);
  constexpr int kEvents = 20'000;
  std::atomic<bool> done = false;
  std::vector<std::string> texts;
  std::thread consumer([&] {
    for (bool last = false; !last;) {
      last = done.load();
      std::vector<std::byte> bytes = ring->drain();
      std::span<const std::byte> rest(bytes);
      while (!rest.empty()) {
        std::optional<record::RecordView> view = record::next_record(rest);
        REQUIRE(view.has_value());
        if (view->record.type == static_cast<std::uint8_t>(wire::RecordType::kPush))
          texts.emplace_back(view->text);
      }
    }
  });
  std::vector<std::string> sent;
  int dropped = 0;
  for (int i = 0; i < kEvents; ++i) {
    // Lengths around those of a unit and of the fast path.
    std::string text = std::to_string(i) + std::string(static_cast<std::size_t>(i % 70), 'x');
    Event event = text_event(text.c_str());
    std::uint64_t before = ring->control.dropped.load();
    push(ring->state, 0, event);
    if (ring->control.dropped.load() == before) {
      sent.push_back(text);
    } else {
      ++dropped;
      std::this_thread::yield();
    }
    Event none;
    pop(ring->state, 0, none);
  }
  done = true;
  consumer.join();
  CHECK(texts == sent);
  CHECK(ring->control.dropped.load() == static_cast<unsigned>(dropped));
  CHECK(ring->control.dropped_ends.load() == static_cast<unsigned>(dropped));
}

TEST_CASE("a full ring drops pushes with their pops and all inside, never a pop it has promised") {
  TestRing ring(512);
  std::vector<int> levels;
  int depth = 0;
  auto begin = [&] {
    Event event = text_event("range");
    levels.push_back(push(ring.state, 0, event));
    ++depth;
  };
  auto end = [&] {
    Event none;
    CHECK(pop(ring.state, 0, none) == --depth);
  };
  for (int i = 0; i < 400; ++i) begin();  // far more than fit
  for (int i = 0; i < 400; ++i) CHECK(levels[static_cast<std::size_t>(i)] == i);
  std::uint64_t dropped_pushes = ring.control.dropped.load();
  CHECK(dropped_pushes > 0);
  for (int i = 0; i < 400; ++i) end();
  CHECK(ring.control.dropped.load() == dropped_pushes);
  CHECK(ring.control.dropped_ends.load() == dropped_pushes);
  CHECK(ring.control.pops_without_push.load() == 0);
  std::vector<std::byte> bytes = ring.drain();
  std::span<const std::byte> rest(bytes);
  std::int64_t open = 0;
  std::int64_t pushes = 0;
  while (!rest.empty()) {
    auto view = record::next_record(rest);
    REQUIRE(view.has_value());
    bool is_push = view->record.type == static_cast<std::uint8_t>(wire::RecordType::kPush);
    pushes += is_push;
    open += is_push ? 1 : -1;
    CHECK(open >= 0);
  }
  CHECK(open == 0);
  CHECK(pushes == 400 - static_cast<std::int64_t>(dropped_pushes));
  begin();  // and there is room again
  CHECK(ring.control.dropped.load() == dropped_pushes);
  CHECK(ring.control.dropped_ends.load() == dropped_pushes);
}

TEST_CASE("domains nest apart from each other when the ring is full") {
  TestRing ring(512);
  Event event = text_event("a");
  while (ring.control.dropped.load() == 0) {
    event = text_event("a");
    push(ring.state, 1, event);
  }
  // Domain 1 is skipping; a range of domain 2 does not fit either, and its pop must not be taken for
  // one of domain 1.
  event = text_event("b");
  push(ring.state, 2, event);
  std::uint64_t dropped = ring.control.dropped.load();
  Event none;
  pop(ring.state, 2, none);
  CHECK(ring.control.dropped.load() == dropped);
  CHECK(ring.control.dropped_ends.load() == 1);
  CHECK(ring.state.stack(1)->skipped == 1);
  CHECK(ring.state.stack(2)->skipped == 0);
  CHECK(ring.state.stack(2)->depth == 0);
}

TEST_CASE("far domains have stacks of their own") {
  TestRing ring(512);
  Event event = text_event("far");
  CHECK(push(ring.state, 4000, event) == 0);
  CHECK(push(ring.state, 15, event) == 0);
  CHECK(push(ring.state, 16, event) == 0);
  CHECK(push(ring.state, 4000, event) == 1);
  Event none;
  CHECK(pop(ring.state, 4000, none) == 1);
  CHECK(pop(ring.state, 16, none) == 0);
  CHECK(pop(ring.state, 16, none) == -1);
  CHECK(ring.control.pops_without_push.load() == 1);
}

TEST_CASE("the cost of an event is measured without leaving a trace in the ring") {
  TestRing ring(8192);
  std::uint32_t cost = measure_event_cost_ps(ring.state);
  CHECK(cost > 100);             // not nothing
  CHECK(cost < 1'000'000'000u);  // not a millisecond
  CHECK(ring.drain().empty());
  CHECK(ring.control.dropped.load() == 0);
}

}  // namespace headway::inject
