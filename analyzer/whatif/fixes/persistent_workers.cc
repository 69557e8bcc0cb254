// SPDX-License-Identifier: MIT
// The loader's workers live as long as the run: no worker restarts with an epoch while the queue
// runs empty.
#include <fmt/format.h>

#include <string>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// True if PyTorch's loaders already keep their workers; delays at the begin of an epoch then have
/// another cause.
bool live_on(const Trace& trace) {
  bool any = false;
  for (const auto& [name, options] : trace.settings) {
    const bool loader = name == "DataLoader" || name.starts_with("DataLoader ");
    if (!loader || options.find("num_workers=0") != std::string::npos) continue;
    if (options.find("persistent_workers=True") == std::string::npos) return false;
    any = true;
  }
  return any;
}

Proposal propose(const Predictor& predictor) {
  if (live_on(predictor.trace())) return not_here("the workers live on");
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  LoaderPools pools(predictor, editor);
  bool any = false;
  for (const Loader& loader : find_loaders(points)) {
    if (has_workers(points, loader)) any |= pools.add_persistent(loader);
  }
  if (!drop_restarts(predictor, editor) && !any) return not_here("no worker starts late");
  Proposal proposal{true, "workers start the next epoch's batches at once", editor.take()};
  pools.move_into(proposal.scenario);
  proposal.scenario.at_least = predictor.processors().least_per_step();
  return proposal;
}

}  // namespace

const Fix kPersistentWorkers{
    "persistent-workers",
    "Keep workers alive across epochs",
    "loader-restart, step-outlier, input-bound, workers-starved",
    FixKind::kStructural,
    0.1,
    "--worker-reuse on",
    "A worker that begins a batch long after queue space was free begins it at once, as does the "
    "first batch of a restarted worker. Batches keep their time.",
    "whether a worker's data set may persist",
    propose};

}  // namespace headway::analyzer
