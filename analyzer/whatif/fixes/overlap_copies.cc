// SPDX-License-Identifier: MIT
// Input is copied ahead, on a stream of its own and from pinned memory: neither the kernels nor the host
// wait for it. The copies still need the link.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Points& points = predictor.program().graph().points();
  auto is_input = [&](DeviceOpId op) {
    return ops.kind[op.value] == DeviceOpKind::kCopyHostToDevice;
  };
  Editor editor(predictor);
  std::int64_t copies = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    if (!is_input(op)) continue;
    ++copies;
    editor.set_op(op, {0});
    if (CallId call = ops.call[i]; call.valid()) {
      editor.remove_edges(end_of(points.task(call)), EdgeKind::kHostSync);
      // A copy from pageable memory is made by the call itself.
      if (trace.calls.op[call.value] == op && ops.source_memory[i] != MemoryKind::kPinned)
        editor.set_duration(points.task(call), DurationNs{5'000}, true);
    }
  }
  if (copies == 0) return not_here("nothing is copied to the device");
  DurationNs link = per_step(predictor, [&](DeviceOpId op) {
    return is_input(op) ? ops.interval(op).length() : DurationNs{};
  });
  Proposal proposal{true,
                    fmt::format("{} of copies to the device per step run beside the kernels",
                                format_duration(link)),
                    editor.take()};
  proposal.scenario.at_least = link;
  return proposal;
}

}  // namespace

const Fix kOverlapCopies{
    "overlap-copies",
    "Copy input ahead on a stream of its own",
    "copy-not-overlapped",
    FixKind::kStructural,
    0.05,
    "--h2d prefetch --pinned on",
    "Copies to the device take no time on their stream and keep nobody waiting; "
    "a step lasts at least as long as its copies together.",
    "how much kernels slow down while copies use the memory, and whether the host gets to issue "
    "the copies early: one that waits for the device often does not",
    propose};

}  // namespace headway::analyzer
