// SPDX-License-Identifier: MIT
// Results that are read back in each step (the loss) are read later: the host does not wait for them.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Limit in bytes for results that are only displayed; larger copies are activations that the host
/// needs.
constexpr std::int64_t kSmall = 4096;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t reads = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const DeviceCallKind kind = trace.calls.kind[c];
    if (kind != DeviceCallKind::kCopy && kind != DeviceCallKind::kCopyBlocking) continue;
    DeviceOpId op = trace.calls.op[c];
    if (!op.valid() || trace.device_ops.kind[op.value] != DeviceOpKind::kCopyDeviceToHost ||
        trace.device_ops.bytes[op.value] > kSmall)
      continue;
    editor.remove_edges(end_of(points.task(CallId{c})), EdgeKind::kHostSync);
    ++reads;
  }
  if (reads == 0) return not_here("no small result is copied back");
  return {true, fmt::format("the host does not wait for {} small copies", reads), editor.take()};
}

}  // namespace

const Fix kDeferredRead{
    "deferred-read",
    "Read results a step later",
    "host-sync",
    FixKind::kStructural,
    0.02,
    "--loss-read deferred",
    "Copies of up to 4 KiB to the host stay, but the host does not wait for them.",
    "whether the program branches on the value",
    propose};

}  // namespace headway::analyzer
