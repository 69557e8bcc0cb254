// SPDX-License-Identifier: MIT
// Fewer workers make the batches, so that each worker and the training thread have a processor. The recording had more
// computing threads than processors, which lengthened the work of each thread by that ratio.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Points& points = predictor.program().graph().points();
  const LoaderWork work = loader_work(rule_context(predictor));
  const std::int64_t processors = processor_count(predictor.trace());
  if (work.workers.empty() || processors == 0)
    return not_here("the number of workers or processors is unknown");
  const std::int64_t trainers = trainers_in(predictor.trace());
  const double wanted = work.computing + static_cast<double>(trainers);
  if (wanted <= static_cast<double>(processors))
    return not_here(fmt::format("{:.1f} threads want {} processors", wanted, processors));
  Editor editor(predictor);
  LoaderPools pools(predictor, editor);
  const auto new_workers =
      static_cast<std::size_t>(std::max<std::int64_t>(1, (processors - trainers) / trainers));
  std::size_t old_workers = 0;
  std::size_t new_depth = 0;
  for (const Loader& loader : find_loaders(points)) {
    if (loader.made.empty() || loader.waited.empty()) continue;
    const std::size_t workers = workers_at_once(points, loader);
    // The prefetch depth also limits the number of workers that have a batch at once.
    if (std::min(workers, loader.depth) <= new_workers) continue;
    const bool in_turns = is_in_turns(points, loader, workers);
    const std::size_t depth =
        in_turns ? std::max<std::size_t>(1, loader.depth * new_workers / workers) : loader.depth;
    pools.add(loader, new_workers, depth, in_turns);
    old_workers = std::max(old_workers, workers);
    new_depth = std::max(new_depth, depth);
  }
  if (old_workers == 0) return not_here("workers do not outnumber the processors");
  Proposal proposal{
      true,
      fmt::format("{} workers make batches instead of {}; {:.1f} threads wanted {} processors",
                  new_workers, old_workers, wanted, processors),
      editor.take()};
  proposal.setting = fmt::format("--workers {} --prefetch {}", new_workers, new_depth);
  pools.move_into(proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kFewerWorkers{"fewer-workers",
                        "Leave a processor to the training thread",
                        "workers-oversubscribed",
                        FixKind::kModelled,
                        0.3,
                        "--workers",
                        "One worker fewer than processors. Computing threads share the processors, "
                        "so worker time excluding reads shrinks with less contention.",
                        "how the operating system shared the processors",
                        propose};

}  // namespace headway::analyzer
