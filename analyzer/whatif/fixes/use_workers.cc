// SPDX-License-Identifier: MIT
// Workers make the batches that the training thread makes itself. The thread then only takes them.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Without the number of processors: not more workers than this, as one GPU's share of a node has.
constexpr std::int64_t kMostWorkers = 16;

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  if (!loader_work(context).workers.empty()) return not_here("workers make batches already");
  const std::vector<bool> trains = training_threads(context);
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  const Interval window{predictor.recorded(steps.front()).begin,
                        predictor.recorded(steps.back()).end};
  Editor editor(predictor);
  DurationNs work;
  for_each_host_time(predictor, [&](ThreadId thread, Interval where, const Constraint& constraint) {
    const Part& part = predictor.parts()[constraint.part.value];
    if (!trains[thread.value] || part.kind != Part::Kind::kHost ||
        info(part.time_class).group != TimeGroup::kInput)
      return;
    editor.set_lag(constraint.id, DurationNs{0});
    if (window.contains(where.begin)) work += constraint.lag;
  });
  const auto count = static_cast<std::int64_t>(steps.size());
  work = work / count;
  if (work.ns <= 0) return not_here("the training thread makes no batches itself");
  // A batch is handed over: the thread wakes up for it, if it has to wait at all.
  Proposal proposal;
  proposal.applies = true;
  proposal.scenario = editor.take();
  const DurationNs rest = predictor.predict(proposal.scenario).step;
  const std::int64_t fitting = workers_that_fit(context);
  const std::int64_t workers =
      std::clamp<std::int64_t>(workers_needed(work, rest), 1, fitting > 0 ? fitting : kMostWorkers);
  proposal.scenario.at_least = work / workers;
  proposal.text = fmt::format("{} {} the batches beside the step", workers,
                              workers == 1 ? "worker makes" : "workers make");
  proposal.setting = fmt::format("--workers {}", workers);
  const StorageModel storage = storage_model(predictor.trace());
  proposal.certainty =
      storage.serves(static_cast<double>(workers), ratio(storage.total, work * count));
  return proposal;
}

}  // namespace

const Fix kUseWorkers{"use-workers",
                      "Let workers make the batches",
                      "input-bound",
                      FixKind::kStructural,
                      0.1,
                      "--workers",
                      "What the training thread does to make batches happens on as many workers as "
                      "hide it, but one processor stays for training; a step takes no less than a "
                      "batch divided by the workers.",
                      "what handing a batch over costs, and whether storage and memory serve "
                      "several workers",
                      propose};

}  // namespace headway::analyzer
