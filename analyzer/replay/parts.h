// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/graph/graph.h"
#include "analyzer/model/time_class.h"
#include "analyzer/partition/gap_facts.h"

namespace headway::analyzer {

/// Time that is scaled together: of one class, one op of the model, one name.
struct Part {
  enum class Kind : std::uint8_t {
    kFixed,   ///< nothing that a fix can change: the order alone
    kDevice,  ///< the duration of device ops, or the transfer of a collective
    kCall,    ///< the own time of API calls
    kHost,    ///< what a host thread does between its calls, by its ranges
    kDelay,   ///< what the machine needs between two tasks: launch, front end, wake-up
  };
  Kind kind = Kind::kFixed;
  TimeClass time_class = TimeClass::kUnknown;
  OpId op{0};            ///< of the model; 0: unattributed
  trace::StringId name;  ///< of the kernel, the call or the innermost range; empty: none
  /// Of a batch that is made here: the stage and its range, around what `name` is. What belongs to no step may be in one, too
  /// (`name` is the evaluation that the batch is for, or the garbage collection that making it set off).
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

/// Tells what time is made of. Parts are numbered as they are met; beyond 65,000 of them the names
/// are dropped and only classes kept apart. Not thread-safe.
class Parts {
 public:
  explicit Parts(const GapFacts& facts);

  const std::vector<Part>& all() const { return parts_; }
  static PartId fixed() { return PartId{0}; }
  PartId delay(TimeClass time_class);
  /// Of a task's own duration; a batch being made is cut by `host` instead.
  PartId of(const Points& points, TaskId task);
  /// What `thread` does in `window`, outside of calls; one share a part, they sum to the window.
  /// Cheap when the windows of a thread come in the order of time.
  void host(trace::ThreadId thread, Interval window, std::vector<HostShare>& out);

 private:
  PartId intern(const Part& part);
  PartId host_part(trace::ThreadId thread, trace::RangeId range, Interval part);
  /// The range that says of a call that it belongs to no step; none mostly.
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
