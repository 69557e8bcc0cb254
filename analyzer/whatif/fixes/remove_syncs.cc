// SPDX-License-Identifier: MIT
// Synchronisations of streams and devices are not made; those of events wait for nothing: they often bound
// how far the host runs ahead, and stay. Copies that the host must wait for are left alone: their data is
// wanted (deferred-read is about those).
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

bool synchronises(DeviceCallKind kind) {
  return kind == DeviceCallKind::kStreamSynchronize || kind == DeviceCallKind::kEventSynchronize ||
         kind == DeviceCallKind::kDeviceSynchronize;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t calls = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (!synchronises(trace.calls.kind[c])) continue;
    const TaskId task = points.task(CallId{c});
    editor.remove_edges(end_of(task), EdgeKind::kHostSync);
    if (trace.calls.kind[c] != DeviceCallKind::kEventSynchronize) editor.set_duration(task, {0});
    ++calls;
  }
  if (calls == 0) return not_here("no call waits for the device");
  return {true, fmt::format("{} calls wait for the device no longer", calls), editor.take()};
}

}  // namespace

const Fix kRemoveSyncs{"remove-syncs",
                       "Do not wait for the device",
                       "host-sync",
                       FixKind::kStructural,
                       0.02,
                       "--sync never",
                       "Synchronisations of streams and devices are not made, those of events wait "
                       "for nothing; the launch queue and everything else stay.",
                       "whether the program needs a result at that place",
                       propose};

}  // namespace headway::analyzer
