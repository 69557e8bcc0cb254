// SPDX-License-Identifier: MIT
// A round trip (copy to the host, host work, copy back) becomes one kernel.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/evidence/round_trips.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Duration of a call that only issues work.
constexpr DurationNs kIssue{5'000};

/// The calls of the thread between `out` and `back`, last first: they waited for the copy to the host.
std::vector<CallId> calls_between(const Trace& trace, CallId out, CallId back) {
  std::vector<CallId> result;
  const auto calls = trace.calls_of_thread[trace.calls.thread[back.value]];
  if (!out.valid()) return result;
  auto call = std::ranges::lower_bound(calls, back);
  while (call != calls.begin() && *(call - 1) > out) result.push_back(*--call);
  return result;
}

/// Returns the number of replaced round trips per step of the device.
double replace_round_trips(const Predictor& predictor, const RuleContext& context,
                           const DevicePartition& device, Editor& editor) {
  const Points& points = predictor.program().graph().points();
  const DeviceOps& ops = context.trace.device_ops;
  const DurationNs kernel = shortest_kernel(ops);
  double trips = 0;
  const std::int64_t steps =
      for_each_round_trip(context, device, [&](DeviceOpId to_host, DeviceOpId to_device) {
        ++trips;
        // The copy to the host becomes the kernel, its call the launch.
        editor.set_transfer(to_host, kernel, true);
        const CallId out = ops.call[to_host.value];
        const CallId back = ops.call[to_device.value];
        if (out.valid()) {
          editor.remove_edges(end_of(points.task(out)), EdgeKind::kHostSync);
          const DurationNs now = context.trace.calls.interval(out).length();
          editor.set_duration(points.task(out), std::min(kIssue, now), true);
        }
        for (CallId call : calls_between(context.trace, out, back)) {
          editor.remove_edges(end_of(points.task(call)), EdgeKind::kHostSync);
          editor.set_duration(points.task(call), {0});
          editor.drop_pause(call);
        }
        editor.drop_pause(back);
        editor.drop_op(to_device);
      });
  return trips / static_cast<double>(std::max<std::int64_t>(1, steps));
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  const std::size_t at = predictor.steps().partition;
  if (!context.partitions[at].device.valid()) return not_here("the steps run on a host thread");
  Editor editor(predictor);
  double shown_trips = 0;
  // On every rank: an unchanged rank would delay the others.
  for (std::size_t i = 0; i < context.partitions.size(); ++i) {
    if (!context.partitions[i].device.valid()) continue;
    const double trips = replace_round_trips(predictor, context, context.partitions[i], editor);
    if (i == at) shown_trips = trips;
  }
  if (shown_trips == 0) return not_here("no data goes to the host and straight back");
  Proposal proposal{
      true,
      fmt::format("each of the {:.1f} round trips per step to the host becomes one kernel",
                  shown_trips),
      editor.take()};
  // The host waits there and then launches later work late, which costs more than the trip itself.
  proposal.one_place = true;
  return proposal;
}

}  // namespace

const Fix kStayOnDevice{"stay-on-device",
                        "Compute this on the device",
                        "host-round-trip",
                        FixKind::kCeiling,
                        0.2,
                        "--coords device",
                        "One kernel with the shortest recorded time replaces the copy to the host, "
                        "the host work and the copy back. No thread waits for it.",
                        "the device time of the moved work",
                        propose};

}  // namespace headway::analyzer
