// SPDX-License-Identifier: MIT
// Workers make more batches ahead, so that none of them idles at a full queue before the next
// late batch.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  LoaderPools pools(predictor, editor);
  std::size_t before = 0;
  std::size_t after = 0;
  double certainty = 1;
  DurationNs if_full;  // time of a step's reads if the storage is already at its limit
  for (const Loader& loader : find_loaders(points)) {
    if (!has_workers(points, loader)) continue;
    const std::size_t workers = workers_at_once(points, loader);
    // Twice the depth, because the bursts of a loader are as long as its queue.
    const std::size_t depth = std::max(2 * loader.depth, workers + 1);
    pools.add(loader, workers, depth, is_in_turns(points, loader, workers));
    // At most as many workers read at once as batches are in work.
    const auto readers = static_cast<double>(std::min(workers, loader.depth));
    certainty =
        std::min(certainty, pools.certainty_of(loader, static_cast<double>(workers) / readers));
    if (static_cast<double>(workers) > readers)
      if_full = std::max(if_full, pools.least_if_full(loader, readers).value_or(DurationNs{}));
    before = std::max(before, loader.depth);
    after = std::max(after, depth);
  }
  if (after == 0) return not_here("no workers make batches");
  Proposal proposal{true, fmt::format("{} batches are prefetched instead of {}", after, before),
                    editor.take()};
  proposal.setting = fmt::format("--prefetch {}", after);
  pools.move_into(proposal.scenario);
  proposal.certainty = certainty;
  proposal.scenario.at_least =
      std::max(predictor.processors().least_per_step(), least_for_storage(predictor));
  add_if_full(predictor, proposal, if_full);
  return proposal;
}

}  // namespace

const Fix kDeeperPrefetch{
    "deeper-prefetch",
    "Prefetch more batches",
    "input-bound, workers-starved",
    FixKind::kStructural,
    0.1,
    "--prefetch",
    "The same workers, with the same time per batch. A worker waits for queue space only at twice "
    "the current number of batches, plus one more than the workers.",
    "whether memory holds this many batches",
    propose};

}  // namespace headway::analyzer
