// SPDX-License-Identifier: MIT
#include <algorithm>

#include "analyzer/graph/critical_path.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::uint32_t saturated(DurationNs time) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(time.ns, 0, CriticalPath::kNoSlack - 1));
}

}  // namespace

/// One backward pass. The slack of a point is the least over its successors of their slack plus the
/// room in the edge between; a binding edge has no room.
std::vector<std::uint32_t> slack_of_ops(const DependencyGraph& graph, Interval window) {
  const Points& points = graph.points();
  std::vector<std::uint32_t> slack(points.size(), CriticalPath::kNoSlack);
  auto order = graph.order();
  auto last = std::partition_point(order.begin(), order.end(),
                                   [&](PointId p) { return points.time(p) <= window.end; });
  auto relax = [&](PointId from, std::uint32_t by, DurationNs room) {
    std::uint32_t sum = saturated(DurationNs{std::int64_t{by} + room.ns});
    slack[from.value] = std::min(slack[from.value], sum);
  };
  for (auto it = last; it != order.begin();) {
    PointId point = *--it;
    TimeNs now = points.time(point);
    if (now < window.begin) break;
    std::uint32_t& own = slack[point.value];
    own = std::min(own, saturated(window.end - now));
    Binding binding = binding_of(graph, point);
    auto visit = [&](PointId from, DurationNs lag) {
      DurationNs room = from == binding.from ? DurationNs{} : now - points.time(from) - lag;
      relax(from, own, room);
    };
    TaskId task = task_of(point);
    if (!is_start(point) && !graph.is_nested(task)) visit(start_of(task), graph.base(task));
    for (const Edge& edge : graph.edges_to(point)) visit(edge.from, graph.lag(edge, point));
  }
  const DeviceOps& ops = points.trace().device_ops;
  std::vector<std::uint32_t> result(ops.size(), CriticalPath::kNoSlack);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.end[i] > window.begin && ops.end[i] <= window.end)
      result[i] = slack[end_of(points.task(DeviceOpId{i})).value];
  }
  return result;
}

}  // namespace headway::analyzer
