// SPDX-License-Identifier: MIT
// Input is copied ahead, on a stream of its own and from pinned memory, so neither kernels nor
// the host wait for it. The copies still need the link. The host issues a copy after launching
// the previous step, so at most the work that the device then had left hides it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The device's remaining work when the host made its last kernel launch before a copy. Zero if
/// nothing was launched before.
class TimeAhead {
 public:
  explicit TimeAhead(const Trace& trace) : trace_(trace), before_(trace.calls.size()) {
    std::vector<CallId> last(trace.threads.size());
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      CallId& its = last[trace.calls.thread[c].value];
      before_[c] = its;
      if (is_kernel(trace.calls.op[c])) its = CallId{c};
    }
  }
  DurationNs of(DeviceOpId copy) const {
    const CallId call = trace_.device_ops.call[copy.value];
    const CallId launch = call.valid() ? before_[call.value] : CallId::none();
    if (!launch.valid()) return {0};
    const TimeNs done = trace_.device_ops.end[trace_.calls.op[launch.value].value];
    return std::max(DurationNs{0}, done - trace_.calls.end[launch.value]);
  }

 private:
  bool is_kernel(DeviceOpId op) const {
    return op.valid() && trace_.device_ops.kind[op.value] == DeviceOpKind::kKernel;
  }
  const Trace& trace_;
  std::vector<CallId> before_;  ///< by call: the last one of its thread that launched a kernel
};

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Points& points = predictor.program().graph().points();
  auto is_input = [&](DeviceOpId op) {
    return ops.kind[op.value] == DeviceOpKind::kCopyHostToDevice;
  };
  Editor editor(predictor);
  std::int64_t copies = 0;
  const TimeAhead ahead(trace);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    if (!is_input(op)) continue;
    ++copies;
    editor.set_op(op, std::max(DurationNs{0}, ops.interval(op).length() - ahead.of(op)));
    if (CallId call = ops.call[i]; call.valid()) {
      editor.remove_edges(end_of(points.task(call)), EdgeKind::kHostSync);
      // A copy from pageable memory is made by the call itself.
      if (trace.calls.op[call.value] == op && ops.source_memory[i] != MemoryKind::kPinned)
        editor.set_duration(points.task(call), DurationNs{5'000}, true);
    }
  }
  if (copies == 0) return not_here("no copies to the device");
  DurationNs link = per_step(predictor, [&](DeviceOpId op) {
    return is_input(op) ? ops.interval(op).length() : DurationNs{};
  });
  Proposal proposal{
      true,
      fmt::format("{} of copies to the device per step overlap kernels", format_duration(link)),
      editor.take()};
  proposal.scenario.at_least = link;
  return proposal;
}

}  // namespace

const Fix kOverlapCopies{"overlap-copies",
                         "Copy input ahead on a separate stream",
                         "copy-not-overlapped",
                         FixKind::kStructural,
                         0.1,
                         "--h2d prefetch --pinned on",
                         "Copies to the device block nothing, except for the remainder after "
                         "previously launched work. A step lasts at least as long as its copies.",
                         "the slowdown of kernels during copies",
                         propose};

}  // namespace headway::analyzer
