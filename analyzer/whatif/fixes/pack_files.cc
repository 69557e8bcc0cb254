// SPDX-License-Identifier: MIT
// Small files are packed into shards, which are read in large pieces.
#include <fmt/format.h>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// As the rule has it: larger reads than this are no small files.
constexpr std::int64_t kSmallRead = 1'000'000;

Proposal propose(const Predictor& predictor) {
  const Reads reads = sum_reads(predictor.trace());
  if (reads.count == 0) return not_here("the reads carry no sizes");
  if (reads.mean() >= kSmallRead)
    return not_here(fmt::format("a read brings {} on average", format_bytes(reads.mean())));
  const double left = reads.share_if_large();
  Proposal proposal{
      true,
      fmt::format("reads of {} come in large pieces, at {}/s: {} of their time is left",
                  format_bytes(reads.mean()),
                  format_bytes(static_cast<std::int64_t>(reads.large_read_rate)),
                  format_percent(left)),
      {}};
  scale_stage(predictor, trace::RangeKind::kRead, left, proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kPackFiles{"pack-files",
                     "Pack small files into shards",
                     "small-files",
                     FixKind::kModelled,
                     0.3,
                     "--source shards",
                     "Ranges that read take what their bytes take at the best rate of a read of at "
                     "least 64 KiB, or at 100 "
                     "MB/s, which hard disks and gigabit networks reach.",
                     "the rate of reads in sequence, where the recording has no large ones",
                     propose};

}  // namespace headway::analyzer
