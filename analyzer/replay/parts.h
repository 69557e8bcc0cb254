// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/graph/graph.h"
#include "analyzer/model/time_class.h"
#include "analyzer/partition/gap_facts.h"

namespace headway::analyzer {

/// A key of recorded time; all time with the same key is scaled by the same factor in a replay.
struct Part {
  enum class Kind : std::uint8_t {
    kFixed,   ///< no duration to scale, only the order of tasks
    kDevice,  ///< the duration of device ops, or the transfer of a collective
    kCall,    ///< API calls, without the work that they wait for
    kHost,    ///< host time between API calls, by the enclosing range
    kDelay,   ///< latency between two tasks: launch, front end, wake-up
  };
  Kind kind = Kind::kFixed;
  TimeClass time_class = TimeClass::kUnknown;
  OpId op{0};            ///< model op; 0: unattributed
  trace::StringId name;  ///< of the kernel, the call or the innermost range; empty: none
  /// Host time of a batch being made: the stage (read, decode, …) and its range, which encloses the range `name`. Outside of
  /// steps, `name` is the evaluation that the batch is for, or a garbage collection during its making.
  TimeClass stage = TimeClass::kUnknown;
  trace::StringId stage_name = {};

  bool operator==(const Part&) const = default;
};
using PartId = Id<struct PartTag, std::uint16_t>;

/// A stretch of host time that belongs to one part.
struct HostShare {
  PartId part;
  DurationNs time;
};

/// Finds the part of each duration, and numbers parts in the order of their first use. After 65,000 parts, new ones
/// have no name, only their class. Not thread-safe.
class Parts {
 public:
  explicit Parts(const GapFacts& facts);

  const std::vector<Part>& all() const { return parts_; }
  static PartId fixed() { return PartId{0}; }
  PartId delay(TimeClass time_class);
  /// The part of a task's duration. For the making of a batch call `host`, which splits it.
  PartId of(const Points& points, TaskId task);
  /// Splits the host time of `thread` in `window`, outside of API calls: one share per part; shares sum to the window.
  /// Cheap when the windows of a thread come in order of time.
  void host(trace::ThreadId thread, Interval window, std::vector<HostShare>& out);

 private:
  PartId intern(const Part& part);
  PartId host_part(trace::ThreadId thread, trace::RangeId range, Interval part);
  /// The range around a call that shows that it belongs to no step; usually none.
  trace::RangeId between(trace::CallId call) const;

  const GapFacts& facts_;
  HostActivity activity_;
  GapFacts::HostPlaces places_;
  std::vector<bool> device_work_;  ///< by process
  std::vector<Part> parts_;
  std::vector<std::uint32_t> slots_;  ///< open addressing: part + 1, 0 free
  std::vector<Activity> scratch_;
};

/// The class that an API call's own time belongs to.
TimeClass class_of_call(trace::DeviceCallKind kind);

}  // namespace headway::analyzer
