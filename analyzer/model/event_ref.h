// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>

#include "trace/trace.h"

namespace headway::analyzer {

/// A row of one of the trace's event tables: what a piece of evidence points to and the GUI jumps
/// to.
struct EventRef {
  enum class Kind : std::uint8_t { kNone, kRange, kDeviceOp, kCall };
  Kind kind = Kind::kNone;
  std::uint32_t index = 0;

  static EventRef of(trace::RangeId id) { return {Kind::kRange, id.value}; }
  static EventRef of(trace::DeviceOpId id) { return {Kind::kDeviceOp, id.value}; }
  static EventRef of(trace::CallId id) { return {Kind::kCall, id.value}; }
  auto operator<=>(const EventRef&) const = default;
};

/// The event's interval; empty for kNone.
Interval interval_of(const trace::Trace& trace, EventRef event);
/// The event's name, as in the trace (not escaped).
std::string_view name_of(const trace::Trace& trace, EventRef event);

}  // namespace headway::analyzer
