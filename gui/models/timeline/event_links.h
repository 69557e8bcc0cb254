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

/// How two events belong together; the first one is the cause.
enum class EventLinkKind : std::uint8_t {
  kLaunch,      ///< a call enqueued a device op
  kRecord,      ///< an event was recorded that a call waits for
  kStreamWait,  ///< an op waited for an op of another stream
  kHostWait,    ///< a call returned after a device op ended
  kBackward,    ///< the backward op of a forward op
  kCollective,  ///< the same collective on another rank
  kBatch,       ///< a batch and who waited for it
  kHandOver,    ///< one thread worked for another
  kOther,
};

/// A curve of the timeline between two events.
struct EventLink {
  analyzer::EventRef from;
  analyzer::EventRef to;
  EventLinkKind kind = EventLinkKind::kOther;
  bool inferred = false;  ///< concluded from the schedule, not said by the recording

  bool operator==(const EventLink&) const = default;
};

/// "Launches" or "Launched by": what the other end is to the event at this one.
std::string_view words_of(EventLinkKind kind, bool seen_from_cause);
/// True when the link leaves its cause at its end (a wait) and not at its start (a launch).
bool leaves_at_end(EventLinkKind kind);
/// True when the link arrives at its target's end: calls that return when something has happened.
bool arrives_at_end(EventLinkKind kind);

/// Links of all events of a trace but those that its columns tell (launches). Made on any thread in
/// about the time that the analysis takes for its dependency graph, which it holds meanwhile;
/// immutable after that, and as large as the links are many.
class EventLinks {
 public:
  /// More than anybody can tell apart on a screen, and a bound for a frame.
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
  std::vector<EventLink> links_;          ///< by `from`
  std::vector<std::uint32_t> by_target_;  ///< indexes into links_, by `to`
  struct Member {
    trace::DeviceOpId op;
    std::uint32_t group;
  };
  std::vector<Member> member_;  ///< of collectives, by op
  std::vector<std::vector<trace::DeviceOpId>> group_;
  std::vector<bool> group_inferred_;
};

/// What the columns of the trace tell at once: the launching call, the op that was launched.
std::vector<EventLink> launch_links(const trace::Trace& trace, analyzer::EventRef event);

}  // namespace headway::gui
