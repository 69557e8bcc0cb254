// SPDX-License-Identifier: MIT
#include "gui/models/timeline/event_links.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "analyzer/graph/edges.h"
#include "analyzer/graph/graph.h"

namespace headway::gui {

using analyzer::EdgeKind;
using analyzer::EventRef;
using trace::CallId;
using trace::DeviceCallKind;
using trace::DeviceOpId;
using trace::RangeId;

namespace {

/// The kind of link for an edge that leads from one row to another and is of interest to users. The
/// order on threads and streams is visible in the rows anyway.
EventLinkKind kind_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kEventWait:
    case EdgeKind::kDefaultStream:
      return EventLinkKind::kStreamWait;
    case EdgeKind::kHostSync:
      return EventLinkKind::kHostWait;
    case EdgeKind::kBatch:
      return EventLinkKind::kBatch;
    case EdgeKind::kHandOver:
      return EventLinkKind::kHandOver;
    default:
      return EventLinkKind::kOther;  // not shown
  }
}

}  // namespace

std::string_view words_of(EventLinkKind kind, bool seen_from_cause) {
  switch (kind) {
    case EventLinkKind::kLaunch:
      return seen_from_cause ? "Launches" : "Launched by";
    case EventLinkKind::kRecord:
      return seen_from_cause ? "Waited for by" : "Event recorded by";
    case EventLinkKind::kStreamWait:
      return seen_from_cause ? "Kept waiting" : "Waited for";
    case EventLinkKind::kHostWait:
      return seen_from_cause ? "Host waits in" : "Waits for";
    case EventLinkKind::kBackward:
      return seen_from_cause ? "Backward op" : "Forward op";
    case EventLinkKind::kCollective:
      return "Other rank";
    case EventLinkKind::kBatch:
      return seen_from_cause ? "Batch used by" : "Batch made by";
    case EventLinkKind::kHandOver:
      return seen_from_cause ? "Hands over to" : "Taken over from";
    case EventLinkKind::kOther:
      break;
  }
  return "Linked";
}

bool leaves_at_end(EventLinkKind kind) {
  return kind != EventLinkKind::kLaunch && kind != EventLinkKind::kCollective;
}

bool arrives_at_end(EventLinkKind kind) {
  return kind == EventLinkKind::kHostWait || kind == EventLinkKind::kBatch;
}

std::vector<EventLink> launch_links(const trace::Trace& trace, EventRef event) {
  CallId call;
  DeviceOpId op;
  if (event.kind == EventRef::Kind::kCall) {
    call = CallId{event.index};
    op = trace.calls.op[event.index];
  } else if (event.kind == EventRef::Kind::kDeviceOp) {
    op = DeviceOpId{event.index};
    call = trace.device_ops.call[event.index];
  }
  if (!call.valid() || !op.valid()) return {};
  return {{EventRef::of(call), EventRef::of(op), EventLinkKind::kLaunch, false}};
}

EventLinks::EventLinks(const trace::Trace& trace) : trace_(&trace) {
  add_from_graph();
  add_records();
  add_backward();
  auto key = [](const EventLink& link) { return std::tuple(link.from, link.to, link.kind); };
  std::sort(links_.begin(), links_.end(),
            [&](const EventLink& a, const EventLink& b) { return key(a) < key(b); });
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  by_target_.resize(links_.size());
  for (std::uint32_t i = 0; i < by_target_.size(); ++i) by_target_[i] = i;
  std::stable_sort(by_target_.begin(), by_target_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return links_[a].to < links_[b].to; });
}

void EventLinks::add_from_graph() {
  analyzer::DependencyGraph graph(*trace_);
  const analyzer::Points& points = graph.points();
  for (std::uint32_t p = 0; p < points.size(); ++p) {
    for (const analyzer::Edge& edge : graph.edges_to({p})) {
      EventLinkKind kind = kind_of(edge.kind);
      if (kind == EventLinkKind::kOther) continue;
      EventRef from = points.event_of(analyzer::task_of(edge.from));
      EventRef to = points.event_of(analyzer::task_of({p}));
      if (from.kind == EventRef::Kind::kNone || to.kind == EventRef::Kind::kNone) continue;
      links_.push_back({from, to, kind, edge.inferred});
    }
  }
  std::int64_t contradicted = 0;
  for (analyzer::Rendezvous& group : analyzer::find_rendezvous(*trace_, contradicted)) {
    for (DeviceOpId op : group.ops)
      member_.push_back({op, static_cast<std::uint32_t>(group_.size())});
    group_.push_back(std::move(group.ops));
    group_inferred_.push_back(group.inferred);
  }
  std::sort(member_.begin(), member_.end(),
            [](const Member& a, const Member& b) { return a.op < b.op; });
}

/// Links a call that waits for an event with the last earlier call that recorded the event.
void EventLinks::add_records() {
  const trace::Calls& calls = trace_->calls;
  using Key = std::tuple<trace::ProcessId, std::uint64_t, TimeNs, std::uint32_t>;
  auto process = [&](std::uint32_t c) { return trace_->threads[calls.thread[c].value].process; };
  std::vector<Key> records;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.kind[c] == DeviceCallKind::kEventRecord && calls.sync_id[c])
      records.emplace_back(process(c), calls.sync_id[c], calls.start[c], c);
  }
  if (records.empty()) return;
  std::sort(records.begin(), records.end());
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    bool waits = calls.kind[c] == DeviceCallKind::kStreamWaitEvent ||
                 calls.kind[c] == DeviceCallKind::kEventSynchronize;
    if (!waits || !calls.sync_id[c]) continue;
    Key wanted{process(c), calls.sync_id[c], calls.start[c], 0};
    auto after = std::lower_bound(records.begin(), records.end(), wanted);
    if (after == records.begin()) continue;
    const auto& [of, id, start, record] = *std::prev(after);
    if (of != process(c) || id != calls.sync_id[c]) continue;
    links_.push_back(
        {EventRef::of(CallId{record}), EventRef::of(CallId{c}), EventLinkKind::kRecord});
  }
}

/// Links ranges with the same autograd sequence number. Several forward ops may share it, each
/// inside the one before: the innermost one created the node of the graph. The backward op is the
/// first that comes after it on another thread or, where autograd runs on the same thread, after
/// the forward op ended.
void EventLinks::add_backward() {
  const trace::Ranges& ranges = trace_->ranges;
  struct Numbered {
    trace::ProcessId process;
    std::int64_t sequence;
    RangeId range;  ///< ids are in the order of start
    auto key() const { return std::tuple(process, sequence, range); }
  };
  std::vector<Numbered> numbered;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    const trace::RangeInfo* info = trace_->info(RangeId{r});
    if (!info || info->sequence < 0) continue;
    numbered.push_back(
        {trace_->threads[ranges.thread[r].value].process, info->sequence, RangeId{r}});
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const Numbered& a, const Numbered& b) { return a.key() < b.key(); });
  for (std::size_t i = 0; i < numbered.size();) {
    std::size_t j = i + 1;
    RangeId forward = numbered[i].range;
    RangeId backward;
    for (; j < numbered.size() && numbered[j].process == numbered[i].process &&
           numbered[j].sequence == numbered[i].sequence;
         ++j) {
      RangeId other = numbered[j].range;
      bool same_thread = ranges.thread[other.value] == ranges.thread[forward.value];
      if (same_thread && ranges.start[other.value] < ranges.end[forward.value]) {
        forward = other;
      } else if (!backward.valid()) {
        backward = other;
      }
    }
    if (backward.valid())
      links_.push_back({EventRef::of(forward), EventRef::of(backward), EventLinkKind::kBackward});
    i = j;
  }
}

void EventLinks::add_collective(EventRef event, std::vector<EventLink>& found) const {
  if (event.kind != EventRef::Kind::kDeviceOp) return;
  DeviceOpId op{event.index};
  auto member = std::lower_bound(member_.begin(), member_.end(), op,
                                 [](const Member& m, DeviceOpId wanted) { return m.op < wanted; });
  if (member == member_.end() || member->op != op) return;
  for (DeviceOpId other : group_[member->group]) {
    if (other != op)
      found.push_back({event, EventRef::of(other), EventLinkKind::kCollective,
                       static_cast<bool>(group_inferred_[member->group])});
  }
}

std::vector<EventLink> EventLinks::of(EventRef event) const {
  std::vector<EventLink> found = launch_links(*trace_, event);
  const std::size_t launches = found.size();
  // One event may have thousands of links; looking at more than these would delay the UI.
  constexpr std::size_t kMostLookedAt = 4096;
  auto first =
      std::lower_bound(links_.begin(), links_.end(), event,
                       [](const EventLink& link, EventRef wanted) { return link.from < wanted; });
  for (; first != links_.end() && first->from == event && found.size() < kMostLookedAt; ++first)
    found.push_back(*first);
  auto to =
      std::lower_bound(by_target_.begin(), by_target_.end(), event,
                       [&](std::uint32_t i, EventRef wanted) { return links_[i].to < wanted; });
  for (; to != by_target_.end() && links_[*to].to == event && found.size() < kMostLookedAt; ++to)
    found.push_back(links_[*to]);
  add_collective(event, found);
  auto distance = [&](const EventLink& link) {
    EventRef other = link.from == event ? link.to : link.from;
    return std::abs(
        (analyzer::interval_of(*trace_, other).begin - analyzer::interval_of(*trace_, event).begin)
            .ns);
  };
  std::stable_sort(
      found.begin() + static_cast<std::ptrdiff_t>(launches), found.end(),
      [&](const EventLink& a, const EventLink& b) { return distance(a) < distance(b); });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

}  // namespace headway::gui
