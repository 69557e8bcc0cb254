// SPDX-License-Identifier: MIT
// The training thread makes the batches itself. If handing a batch over takes longer than making
// it, workers cost more than they hide.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/hand_over.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

struct Times {
  DurationNs waiting;
  DurationNs making;
  std::int64_t batches = 0;
};

/// The training thread makes each batch, in `saved` less time, instead of waiting for it.
Scenario made_here(const Predictor& predictor, DurationNs saved, Times& times) {
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  times = {};
  for (const Loader& loader : find_loaders(points)) {
    if (!has_workers(points, loader)) continue;
    const std::vector<TaskId> makers = makers_of(points, loader);
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (!makers[i].valid()) continue;
      const TaskId wait = loader.waited[i].task;
      editor.remove_edges(end_of(wait), EdgeKind::kBatch);
      times.making += editor.move_work(makers[i], wait, saved);
      times.waiting += points.interval(wait).length();
      ++times.batches;
    }
  }
  drop_restarts(predictor, editor);
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const DurationNs saved = beside_hand_over(rule_context(predictor));
  Times times;
  Proposal proposal;
  proposal.scenario = made_here(predictor, saved, times);
  if (times.batches == 0) return not_here("no workers make batches");
  proposal.text =
      fmt::format("making a batch takes {} on a processor of its own, waiting for one {}",
                  format_duration(times.making / times.batches),
                  format_duration(times.waiting / times.batches));
  // Making batches here may take longer than the waits did, which a host ahead of the device hides.
  if (predictor.predict(proposal.scenario).gain.ns <= 0) return not_here(proposal.text);
  proposal.applies = true;
  proposal.setting = "--workers 0";
  if (saved.ns > 0)
    for (const DurationNs other : {DurationNs{}, saved * 2})
      proposal.otherwise.push_back(made_here(predictor, other, times));
  return proposal;
}

}  // namespace

const Fix kNoWorkers{
    "no-workers",
    "Make batches on the training thread",
    "input-bound, loader-restart, workers-oversubscribed",
    FixKind::kModelled,
    0.2,
    "--workers 0",
    "The training thread makes each batch instead of waiting for it, in a worker's "
    "time with a processor of its own. No worker starts or hands over batches, which in PyTorch "
    "also saves 0.3 ms of the following compute.",
    "whether the training thread is as fast as a worker",
    propose};

}  // namespace headway::analyzer
