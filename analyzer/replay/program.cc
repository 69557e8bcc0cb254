// SPDX-License-Identifier: MIT
#include "analyzer/replay/program.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The class of the time that a constraint of this kind asks for, when it is a delay.
TimeClass class_of_delay(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kLaunch:
    case EdgeKind::kGraphLaunch:
      return TimeClass::kLaunchGap;
    case EdgeKind::kHostSync:
      return TimeClass::kHostSync;
    case EdgeKind::kBatch:
    case EdgeKind::kBatchSlot:
      return TimeClass::kInputOther;
    default:
      return TimeClass::kFrontendGap;
  }
}

/// Kinds whose lag is a delay of the machine, and so known only as a distribution.
bool is_delay(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kDuration:
    case EdgeKind::kThreadOrder:
    case EdgeKind::kHandOver:
    case EdgeKind::kTransfer:
      return false;
    default:
      return true;
  }
}

}  // namespace

struct Program::Draft {
  PointId from;
  DurationNs lag;
  EdgeKind kind;
};

Program::Program(const DependencyGraph& graph, Parts& parts) : graph_(graph) {
  const Points& points = graph.points();
  slot_.assign(points.size(), Slot::none().value);
  recorded_.reserve(points.size() + points.size() / 8);
  point_.reserve(recorded_.capacity());
  first_.reserve(recorded_.capacity() + 1);
  from_lag_.reserve(points.size() * 7 / 4);
  part_.reserve(from_lag_.capacity());
  kind_.reserve(from_lag_.capacity());
  std::vector<Draft> drafts;
  std::vector<HostShare> shares;
  for (PointId point : graph.order()) add_point(point, parts, drafts, shares);
  first_.push_back(static_cast<std::uint32_t>(from_lag_.size()));
}

void Program::begin_slot(TimeNs recorded, PointId point) {
  recorded_.push_back(recorded.ns);
  point_.push_back(point.value);
  if (point.valid()) slot_[point.value] = static_cast<std::uint32_t>(recorded_.size() - 1);
  first_.push_back(static_cast<std::uint32_t>(from_lag_.size()));
}

void Program::add(Slot from, DurationNs lag, PartId part, EdgeKind kind) {
  const std::uint32_t id = static_cast<std::uint32_t>(from_lag_.size());
  HEADWAY_INVARIANT(from.value < recorded_.size() - 1);
  if (lag.ns >= kLong) long_lags_.emplace_back(id, lag.ns);
  from_lag_.push_back({from.value, static_cast<std::uint32_t>(std::min<std::int64_t>(
                                       std::max<std::int64_t>(lag.ns, 0), kLong))});
  part_.push_back(part);
  kind_.push_back(kind);
}

/// The longest that a delay of this kind is believed to be. On CUDA a longer delay waited for
/// something that was not recorded. A device of threads records all its waits: there a thread got no
/// processor, and that delay disappears with the wait that made the thread sleep.
DurationNs Program::most_delay(EdgeKind kind, PointId from, PointId to) const {
  const Calibration& calibration = graph_.calibration();
  const Points& points = graph_.points();
  const Trace& trace = graph_.trace();
  auto most = [&](PointId point, Delay DeviceDelays::*delay) {
    StreamId stream = trace.device_ops.stream[points.op_of(task_of(point)).value];
    DeviceId device = trace.streams[stream.value].device;
    if (trace.devices[device.value].type == DeviceType::kHost) return DurationNs{INT64_MAX};
    return (calibration.devices[device.value].*delay).p95;
  };
  switch (kind) {
    case EdgeKind::kLaunch:
      return most(to, &DeviceDelays::launch);
    case EdgeKind::kGraphLaunch:
      return most(to, &DeviceDelays::graph_launch);
    case EdgeKind::kStreamOrder:
    case EdgeKind::kEventWait:
    case EdgeKind::kDefaultStream:
    case EdgeKind::kCollectiveOrder:
      return most(to, &DeviceDelays::stream);
    case EdgeKind::kHostSync:
      if (points.frees(task_of(to))) return DurationNs{INT64_MAX};
      return most(from, &DeviceDelays::sync);
    case EdgeKind::kBatch:
    case EdgeKind::kBatchSlot:
      return calibration.batch.p95;
    case EdgeKind::kQueueFull:
    case EdgeKind::kDriverLock:
      return graph_.base(task_of(to));  // what is left of the call
    default:
      return {0};
  }
}

/// Adds slots inside the stretch that begins at `begin` and slot `from`, one between each two shares.
/// Returns the slot that the last share starts from.
Slot Program::add_cuts(Slot from, TimeNs begin, std::span<const HostShare> shares) {
  for (std::size_t i = 0; i + 1 < shares.size(); ++i) {
    begin = begin + shares[i].time;
    begin_slot(begin, PointId::none());
    add(from, shares[i].time, shares[i].part, EdgeKind::kThreadOrder);
    from = Slot::from(recorded_.size() - 1);
  }
  return from;
}

void Program::add_point(PointId point, Parts& parts, std::vector<Draft>& drafts,
                        std::vector<HostShare>& shares) {
  const Points& points = graph_.points();
  const TimeNs time = points.time(point);
  const TaskId task = task_of(point);
  drafts.clear();
  if (!is_start(point) && !graph_.is_nested(task))
    drafts.push_back({start_of(task), graph_.base(task), EdgeKind::kDuration});
  for (const Edge& edge : graph_.edges_to(point))
    drafts.push_back({edge.from, graph_.lag(edge, point), edge.kind});
  if (drafts.empty()) return begin_slot(time, point);
  Draft* binding = &drafts.front();
  for (Draft& draft : drafts) {
    TimeNs arrival = points.time(draft.from) + draft.lag;
    if (arrival > points.time(binding->from) + binding->lag) binding = &draft;
  }
  if (is_delay(binding->kind)) {
    DurationNs recorded = time - points.time(binding->from);
    binding->lag =
        std::max(binding->lag, std::min(recorded, most_delay(binding->kind, binding->from, point)));
  }
  // Host time comes first: its cuts are slots before that of the point.
  struct Ready {
    Slot from;
    DurationNs lag;
    PartId part;
    EdgeKind kind;
  };
  std::array<Ready, 2> ready;
  std::size_t count = 0;
  auto is_host_time = [&](const Draft& draft) {
    if (draft.lag.ns == 0) return false;
    if (draft.kind == EdgeKind::kThreadOrder) return true;
    return draft.kind == EdgeKind::kDuration && points.range_of(task).valid() &&
           !graph_.is_waiting(task);
  };
  for (Draft& draft : drafts) {
    if (!is_host_time(draft)) continue;
    shares.clear();
    TimeNs begin = points.time(draft.from);
    parts.host(points.thread_of(task), {begin, begin + draft.lag}, shares);
    Slot from = add_cuts(slot_of(draft.from), begin, shares);
    HEADWAY_INVARIANT(count < ready.size());
    ready[count++] = {from, shares.back().time, shares.back().part, draft.kind};
    draft.from = PointId::none();
  }
  begin_slot(time, point);
  for (std::size_t i = 0; i < count; ++i)
    add(ready[i].from, ready[i].lag, ready[i].part, ready[i].kind);
  for (const Draft& draft : drafts) {
    if (!draft.from.valid()) continue;
    PartId part = Parts::fixed();
    if (draft.kind == EdgeKind::kDuration) {
      part = parts.of(points, task);
    } else if (draft.kind == EdgeKind::kTransfer) {
      part = parts.of(points, task);
    } else if (draft.lag.ns > 0) {
      part = is_delay(draft.kind) ? parts.delay(class_of_delay(draft.kind)) : Parts::fixed();
    }
    add(slot_of(draft.from), draft.lag, part, draft.kind);
  }
}

std::int64_t Program::lag_of(std::uint32_t constraint) const {
  std::uint32_t lag = from_lag_[constraint].lag;
  if (lag != kLong) return lag;
  auto found =
      std::lower_bound(long_lags_.begin(), long_lags_.end(), std::pair(constraint, INT64_MIN));
  return found->second;
}

void Program::set_lag(std::uint32_t constraint, std::int64_t lag) {
  std::uint32_t& kept = from_lag_[constraint].lag;
  if (kept != kLong) {
    kept = static_cast<std::uint32_t>(lag);
    return;
  }
  std::ranges::lower_bound(long_lags_, std::pair(constraint, INT64_MIN))->second = lag;
}

void Program::scale(std::span<const double> factor) {
  for (std::uint32_t c = 0; c < from_lag_.size(); ++c) {
    const std::size_t part = part_[c].value;
    if (part >= factor.size() || factor[part] == 1) continue;
    set_lag(c, std::llround(static_cast<double>(lag_of(c)) * std::min(1.0, factor[part])));
  }
}

Constraint Program::own_into(Slot at, Slot begin) const {
  Constraint inner;
  for_each(at, [&](const Constraint& constraint) {
    const bool own =
        constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kThreadOrder;
    if (own && constraint.from >= begin && (!inner.from.valid() || inner.from < constraint.from))
      inner = constraint;
  });
  return inner;
}

Constraint Program::constraint(ConstraintId id) const {
  return {Slot{from_lag_[id.value].from}, id, {lag_of(id.value)}, part_[id.value], kind_[id.value]};
}

}  // namespace headway::analyzer
