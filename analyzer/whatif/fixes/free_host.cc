// SPDX-License-Identifier: MIT
// The host's own work takes no time, as if it ran on another thread or on the device, or not at
// all.
#include "analyzer/evidence/host_work.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

Proposal propose(const Predictor& predictor) {
  Scenario scenario;
  bool any = false;
  for (std::size_t part = 0; part < predictor.parts().size(); ++part) {
    const Part& one = predictor.parts()[part];
    if (one.kind != Part::Kind::kHost || one.time_class != TimeClass::kHostOther) continue;
    scenario.scale(PartId::from(part), 0);
    any = true;
  }
  if (!any) return not_here("the host only launches and makes input");
  Proposal proposal{true, "the host only launches and makes input", std::move(scenario)};
  const Analysis& analysis = predictor.analysis();
  const DevicePartition& device = analysis.partitions[predictor.steps().partition];
  proposal.one_place = host_stop(predictor.trace(), analysis.steps, device).typical.ns > 0;
  return proposal;
}

}  // namespace

const Fix kFreeHost{"free-host",
                    "Remove other host work from the step",
                    "host-bound",
                    FixKind::kCeiling,
                    0.02,
                    "",
                    "Thread time between calls disappears, except for launching and making input.",
                    "which of that work the step needs",
                    propose};

}  // namespace headway::analyzer
