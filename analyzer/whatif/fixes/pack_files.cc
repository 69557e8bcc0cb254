// SPDX-License-Identifier: MIT
// Small files are packed into shards, which are read in large pieces. The cost of requests is
// removed and the transfers stay; the model of the storage gives both.
#include <fmt/format.h>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Limit of a small read in bytes, as in the rule.
constexpr std::int64_t kSmallRead = 1'000'000;

/// Reads take only their transfers; workers wait for each other's transfers.
bool add_pools(const Predictor& predictor, Scenario& scenario) {
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  LoaderPools pools(predictor, editor);
  bool any = false;
  for (const Loader& loader : find_loaders(points)) {
    if (loader.made.empty() || loader.waited.empty()) continue;
    if (!pools.storage_of(loader).shared()) continue;
    pools.add_as_recorded(loader);
    any = true;
  }
  if (!any) return false;
  scenario = editor.take();
  pools.move_into(scenario);
  return true;
}

std::string at_rate(const StorageModel& storage) {
  if (storage.bytes_per_s >= kFasterThanShows) return "";
  return fmt::format(", at {}/s{}", format_bytes(static_cast<std::int64_t>(storage.bytes_per_s)),
                     storage.limited() ? " for all readers together" : "");
}

Proposal propose(const Predictor& predictor) {
  const TimeNs since = predictor.analysis().steps.warm_from();
  const Reads reads = sum_reads(predictor.trace(), since);
  if (reads.count == 0) return not_here("the reads have no sizes");
  if (reads.mean() >= kSmallRead)
    return not_here(fmt::format("a read brings {} on average", format_bytes(reads.mean())));
  if (reads.files && reads.count < 2 * batches_made(predictor.trace(), since))
    return not_here("a batch already comes from one file");
  const StorageModel storage = storage_of_loaders(predictor);
  Proposal proposal{true,
                    fmt::format("reads of {} come in large pieces{}: {} of their time remains",
                                format_bytes(reads.mean()), at_rate(storage),
                                format_percent(storage.left_if_packed)),
                    {}};
  // If the number of files is known, one request per batch remains.
  const double requests = reads.files
                              ? static_cast<double>(batches_made(predictor.trace(), since)) /
                                    static_cast<double>(reads.count)
                              : 0;
  const bool in_pools = add_pools(predictor, proposal.scenario);
  const double left = in_pools ? 0 : storage.left_if_packed;
  scale_stage(predictor, trace::RangeKind::kRead, left + requests * (1 - left), proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kPackFiles{"pack-files",
                     "Pack small files into shards",
                     "small-files",
                     FixKind::kModelled,
                     0.3,
                     "--source shards",
                     "Read ranges take their bytes at the storage rate: the shared rate if readers "
                     "wait for each other, else the best rate of reads of at least 64 KiB, or 100 "
                     "MB/s (hard disks and gigabit networks reach it).",
                     "sequential read rate, if the recording has no large reads",
                     propose};

}  // namespace headway::analyzer
