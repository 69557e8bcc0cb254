// SPDX-License-Identifier: MIT
// Communication runs beside the computation and nothing waits for it; the link is still needed.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  auto communicates = [&](DeviceOpId op) {
    return attribution.class_of[op.value] == TimeClass::kCommTransfer;
  };
  Editor editor(predictor);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (communicates(DeviceOpId{i})) editor.set_op(DeviceOpId{i}, {0});
  }
  if (editor.empty()) return not_here("no communication on the device");
  DurationNs link = per_step(predictor, [&](DeviceOpId op) {
    return communicates(op) ? ops.interval(op).length() : DurationNs{};
  });
  Proposal proposal{
      true,
      fmt::format("{} of communication per step run beside the computation", format_duration(link)),
      editor.take()};
  proposal.scenario.at_least = link;
  return proposal;
}

}  // namespace

const Fix kOverlapCommunication{"overlap-communication",
                                "Overlap communication with the backward pass",
                                "comm-exposed",
                                FixKind::kCeiling,
                                0.05,
                                "--overlap on",
                                "Communication keeps nobody waiting; a step lasts at least as long "
                                "as all of it together.",
                                "how much kernels slow down beside it, and what the last bucket "
                                "leaves exposed",
                                propose};

}  // namespace headway::analyzer
