// SPDX-License-Identifier: MIT
#include "analyzer/model/event_ref.h"

namespace headway::analyzer {

Interval interval_of(const trace::Trace& trace, EventRef event) {
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return trace.ranges.interval(trace::RangeId{event.index});
    case EventRef::Kind::kDeviceOp:
      return trace.device_ops.interval(trace::DeviceOpId{event.index});
    case EventRef::Kind::kCall:
      return trace.calls.interval(trace::CallId{event.index});
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

std::string_view name_of(const trace::Trace& trace, EventRef event) {
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return trace.strings[trace.ranges.name[event.index]];
    case EventRef::Kind::kDeviceOp:
      return trace.strings[trace.device_ops.name[event.index]];
    case EventRef::Kind::kCall:
      return trace.strings[trace.calls.name[event.index]];
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

}  // namespace headway::analyzer
