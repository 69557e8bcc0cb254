// SPDX-License-Identifier: MIT
// The data set is read and decoded once and then stays in memory: batches are gathered from there.
#include <fmt/format.h>

#include <cstdint>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

Proposal propose(const Predictor& predictor) {
  const Reads reads = sum_reads(predictor.trace());
  if (reads.count == 0) return not_here("the reads carry no sizes");
  // Neither storage nor files are the cause then, and decode-offline says what decoding costs.
  if (const DurationNs decoding = time_of_stage(predictor.trace(), trace::RangeKind::kDecode).time;
      decoding > reads.time)
    return not_here(fmt::format("decoding takes {}, reading only {}", format_duration(decoding),
                                format_duration(reads.time)));
  Proposal proposal{true,
                    fmt::format("{} that took {} come from memory", format_bytes(reads.bytes),
                                format_duration(reads.time)),
                    {}};
  for (trace::RangeKind stage : {trace::RangeKind::kRead, trace::RangeKind::kDecode})
    scale_stage(predictor, stage, 0, proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kSamplesInMemory{
    "samples-in-memory",
    "Keep decoded samples in memory",
    "slow-storage, small-files",
    FixKind::kModelled,
    0.1,
    "--source memory",
    "Ranges that read and decode take no time: samples were read and decoded once, before "
    "training or in its first epoch.",
    "whether the data set fits into memory, and what it takes to copy a sample from there",
    propose};

}  // namespace headway::analyzer
