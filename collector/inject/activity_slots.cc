// SPDX-License-Identifier: MIT
#include "collector/inject/activity_slots.h"

#include <atomic>

namespace headway::inject {
namespace {

constinit std::atomic<std::uint64_t> g_order{0};

}  // namespace

std::byte* ActivitySlots::take() const {
  for (std::uint32_t i = 0; i < segment_.layout->activity.count; ++i) {
    wire::SlotState expected = wire::SlotState::kFree;
    if (!area().slots[i].state.compare_exchange_strong(expected, wire::SlotState::kHeld,
                                                       std::memory_order_acquire))
      continue;
    // The lowest free slot has mostly been used before, so its pages exist already.
    if (populate(segment_, memory(i), slot_bytes())) return memory(i);
    area().slots[i].state.store(wire::SlotState::kFree, std::memory_order_release);
    return nullptr;
  }
  return nullptr;
}

bool ActivitySlots::publish(const void* buffer, std::size_t valid_bytes) const {
  const auto* at = static_cast<const std::byte*>(buffer);
  const std::byte* begin = memory(0);
  if (at < begin || at >= memory(segment_.layout->activity.count)) return false;
  auto index = static_cast<std::uint32_t>(static_cast<std::size_t>(at - begin) / slot_bytes());
  wire::ActivitySlot& slot = area().slots[index];
  slot.valid_bytes = valid_bytes < slot_bytes() ? valid_bytes : slot_bytes();
  slot.order = g_order.fetch_add(1, std::memory_order_relaxed);
  slot.state.store(wire::SlotState::kReady, std::memory_order_release);
  return true;
}

}  // namespace headway::inject
