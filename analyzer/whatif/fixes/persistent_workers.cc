// SPDX-License-Identifier: MIT
// The loader's workers live as long as the run: none is started anew with an epoch, while the queue runs dry.
#include <fmt/format.h>

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
  bool any = false;
  for (const Loader& loader : find_loaders(points)) {
    if (has_workers(points, loader)) any |= pools.add_persistent(loader);
  }
  if (!any) return not_here("no worker is seen that starts late");
  drop_restarts(predictor, editor);
  Proposal proposal{true, "workers go on with the next epoch's batches at once", editor.take()};
  pools.move_into(proposal.scenario);
  proposal.scenario.at_least = predictor.processors().least_per_step();
  return proposal;
}

}  // namespace

const Fix kPersistentWorkers{
    "persistent-workers",
    "Keep the workers from one epoch to the next",
    "loader-restart, step-outlier, input-bound, workers-starved",
    FixKind::kStructural,
    0.1,
    "--worker-reuse on",
    "A worker that begins a batch much later than waking takes, after the queue had room, begins "
    "it "
    "at once; so does the first batch of a worker that was started later. Batches take as long as "
    "they took.",
    "whether the data set of a worker may live on",
    propose};

}  // namespace headway::analyzer
