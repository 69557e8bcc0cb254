// SPDX-License-Identifier: MIT
// Samples are decoded once, before training, and read as they are used.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  DurationNs time;
  std::int64_t batches = 0;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (!info || info->kind != RangeKind::kDecode) continue;
    time += trace.ranges.interval(RangeId{r}).length();
    ++batches;
  }
  if (batches == 0) return not_here("no range says where samples are decoded");
  Proposal proposal{
      true, fmt::format("{} of decoding in a range go away", format_duration(time / batches)), {}};
  scale_stage(predictor, RangeKind::kDecode, 0, proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kDecodeOffline{"decode-offline",
                         "Decode samples once, before training",
                         "input-bound",
                         FixKind::kModelled,
                         0.1,
                         "--decode offline",
                         "Ranges that decode take no time.",
                         "how much longer it takes to read samples that are larger when decoded",
                         propose};

}  // namespace headway::analyzer
