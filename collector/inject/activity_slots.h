// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/inject/segment.h"
#include "collector/wire/activity.h"

namespace headway::inject {

/// This process's end of the activity slots. Any thread; no lock.
class ActivitySlots {
 public:
  explicit ActivitySlots(const Segment& segment) : segment_(segment) {}

  wire::ActivityArea& area() const {
    return *reinterpret_cast<wire::ActivityArea*>(segment_.base + wire::kActivityOffset);
  }
  /// Size of one slot, by the layout that the process chose.
  std::size_t slot_bytes() const { return segment_.layout->activity.bytes; }
  /// A cleared slot, now held; null when all are in use or the system has no memory for it.
  std::byte* take() const;
  /// Gives a slot from take() to the recorder; false when `buffer` is not a slot.
  bool publish(const void* buffer, std::size_t valid_bytes) const;

 private:
  std::byte* memory(std::uint32_t slot) const {
    return segment_.base + wire::activity_offset(*segment_.layout) +
           std::uint64_t{slot} * segment_.layout->activity.bytes;
  }
  const Segment& segment_;
};

}  // namespace headway::inject
