// SPDX-License-Identifier: MIT
// The training thread makes the batches itself: where handing a batch over takes longer than making it, workers cost more
// than they hide.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  DurationNs waiting;
  DurationNs making;
  std::int64_t batches = 0;
  for (const Loader& loader : find_loaders(points)) {
    if (!has_workers(points, loader)) continue;
    const std::vector<TaskId> makers = makers_of(points, loader);
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (!makers[i].valid()) continue;
      const TaskId wait = loader.waited[i].task;
      const DurationNs made_in = points.interval(makers[i]).length();
      editor.remove_edges(end_of(wait), EdgeKind::kBatch);
      editor.set_duration(wait, made_in, true);
      waiting += points.interval(wait).length();
      making += made_in;
      ++batches;
    }
  }
  if (batches == 0) return not_here("no workers are seen that make batches");
  const std::string times =
      fmt::format("making a batch takes {}, waiting for one {}", format_duration(making / batches),
                  format_duration(waiting / batches));
  if (making >= waiting) return not_here(times);
  drop_restarts(predictor, editor);
  Proposal proposal{true, times, editor.take()};
  proposal.setting = "--workers 0";
  return proposal;
}

}  // namespace

const Fix kNoWorkers{"no-workers",
                     "Make the batches on the training thread",
                     "input-bound, workers-oversubscribed",
                     FixKind::kModelled,
                     0.2,
                     "--workers 0",
                     "Instead of waiting for a batch, the training thread takes as long as the "
                     "worker took to make it; no worker is started or hands a batch over.",
                     "whether a batch takes the training thread as long as a worker",
                     propose};

}  // namespace headway::analyzer
