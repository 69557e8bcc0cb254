// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::gui {

/// How two events are related; the first one is the cause.
enum class EventLinkKind : std::uint8_t {
  kLaunch,      ///< a call enqueued a device op
  kRecord,      ///< an event was recorded that a call waits for
  kStreamWait,  ///< an op waited for an op of another stream
  kHostWait,    ///< a call returned because a device op had ended
  kBackward,    ///< the backward op of a forward op
  kCollective,  ///< the same collective on another rank
  kBatch,       ///< a batch and the wait for it
  kHandOver,    ///< one thread did work for another
  kOther,
};

/// A link between two events, drawn as a curve.
struct EventLink {
  analyzer::EventRef from;
  analyzer::EventRef to;
  EventLinkKind kind = EventLinkKind::kOther;
  bool inferred = false;  ///< concluded from the schedule, not recorded

  bool operator==(const EventLink&) const = default;
};

/// "Launches" or "Launched by": the relation to the event at the other end.
std::string_view words_of(EventLinkKind kind, bool seen_from_cause);
/// True when the curve starts at the end of its cause (a wait), not at its start (a launch).
bool leaves_at_end(EventLinkKind kind);
/// True when the curve ends at the end of its target: calls that return when something has
/// happened.
bool arrives_at_end(EventLinkKind kind);

/// The links of all events of a trace except launches, which the trace's columns contain. Made on
/// any thread in about the time that the analysis needs for its dependency graph; holds that graph
/// meanwhile. Then immutable; memory grows with the number of links.
class EventLinks {
 public:
  /// More than a person can distinguish on a screen; limits the cost of a frame.
  static constexpr std::size_t kMost = 48;

  explicit EventLinks(const trace::Trace& trace);

  /// The links of an event, launches included, nearest in time first, at most `kMost`.
  std::vector<EventLink> of(analyzer::EventRef event) const;
  std::size_t size() const { return links_.size(); }

 private:
  void add_from_graph();
  void add_records();
  void add_backward();
  void add_collective(analyzer::EventRef event, std::vector<EventLink>& found) const;

  const trace::Trace* trace_;
  std::vector<EventLink> links_;          ///< sorted by `from`
  std::vector<std::uint32_t> by_target_;  ///< indexes into links_, sorted by `to`
  struct Member {
    trace::DeviceOpId op;
    std::uint32_t group;
  };
  std::vector<Member> member_;  ///< of collectives, sorted by op
  std::vector<std::vector<trace::DeviceOpId>> group_;
  std::vector<bool> group_inferred_;
};

/// The links that the trace's columns contain: the launching call, the launched op.
std::vector<EventLink> launch_links(const trace::Trace& trace, analyzer::EventRef event);

}  // namespace headway::gui
