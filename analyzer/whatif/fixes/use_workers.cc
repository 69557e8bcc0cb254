// SPDX-License-Identifier: MIT
// Workers make the batches that the training thread makes itself now; the thread only takes them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/hand_over.h"
#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Limit of workers if the number of processors is not known: the share of one GPU in a node.
constexpr std::int64_t kMostWorkers = 16;
/// More workers than free processors must shorten the step to less than this share.
constexpr double kWorthMore = 0.95;

/// Batches per step that a training thread makes itself, from ranges; 1 if no range shows any.
double batches_of_step(const Trace& trace, const std::vector<bool>& trains, Interval window,
                       std::int64_t steps) {
  std::vector<std::int64_t> made(trains.size());
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (!info || info->kind != RangeKind::kBatch) continue;
    const ThreadId thread = trace.ranges.thread[r];
    made[thread.value] += trains[thread.value] && window.contains(trace.ranges.start[r]);
  }
  return std::max(1.0, static_cast<double>(std::ranges::max(made)) / static_cast<double>(steps));
}

/// Processor time per rank and step that is idle, which workers can use beside training, whatever
/// keeps the other processors busy. None if the machine was not sampled.
std::optional<DurationNs> idle_processors(const RuleContext& context, DurationNs step) {
  const auto busy = counters::steady(context, counters::kMachineCpu);
  const std::int64_t processors = processor_count(context.trace);
  if (!busy || processors <= 0) return std::nullopt;
  const auto trainers = static_cast<double>(trainers_in(context.trace));
  const double idle = std::clamp(1 - busy->mean / 100, 0.0, 1.0);
  return DurationNs{std::llround(idle * static_cast<double>(processors) / trainers *
                                 static_cast<double>(step.ns))};
}

/// A number of workers, and the least time of a step with them.
struct Crew {
  std::int64_t workers = 1;
  DurationNs least;
  std::optional<DurationNs>
      by_fewer;  ///< least time with as many workers as have a processor, if more are chosen
};

/// The workers for `work` (making batches) of a step, beside the rest of the step, which takes
/// `rest`.
Crew crew_for(const RuleContext& context, DurationNs work, DurationNs rest) {
  const std::int64_t needed = std::max<std::int64_t>(1, workers_needed(work, rest));
  const std::int64_t fitting = workers_that_fit(context);
  Crew crew;
  crew.workers = std::min(needed, fitting > 0 ? fitting : kMostWorkers);
  crew.least = work / crew.workers;
  // While the training thread waits for workers, its processor is free for more of them.
  const WorkerRoom room = room_for_workers(context, rest, work);
  const std::int64_t with_room = std::min(needed, room.workers);
  const DurationNs beside =
      std::max({rest, work / std::max<std::int64_t>(1, with_room), room.step});
  if (with_room > crew.workers && ratio(beside, crew.least) < kWorthMore) {
    crew.by_fewer = std::exchange(crew.least, beside);
    crew.workers = with_room;
  }
  return crew;
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  if (!loader_work(context).workers.empty()) return not_here("workers already make batches");
  const std::vector<bool> trains = training_threads(context);
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  const Interval window{predictor.recorded(steps.front()).begin,
                        predictor.recorded(steps.back()).end};
  Editor editor(predictor);
  std::vector<DurationNs> work_of(trains.size());  // threads train side by side
  std::vector<DurationNs> computed_of(trains.size());
  std::vector<Constraint> made;
  for_each_host_time(predictor, [&](ThreadId thread, Interval where, const Constraint& constraint) {
    const Part& part = predictor.parts()[constraint.part.value];
    if (!trains[thread.value] || part.kind != Part::Kind::kHost ||
        info(part.time_class).group != TimeGroup::kInput)
      return;
    made.push_back(constraint);
    if (!window.contains(where.begin)) return;
    work_of[thread.value] += constraint.lag;
    if (part.time_class != TimeClass::kIoRead) computed_of[thread.value] += constraint.lag;
  });
  const auto count = static_cast<std::int64_t>(steps.size());
  const DurationNs work = std::ranges::max(work_of) / count;
  if (work.ns <= 0) return not_here("the training thread makes no batches");
  const double batches = batches_of_step(predictor.trace(), trains, window, count);
  const auto handing_over = [&](DurationNs batch) {
    const double stays = batches * ratio(batch, work);
    for (const Constraint& constraint : made)
      editor.set_lag(constraint.id, {std::llround(stays * static_cast<double>(constraint.lag.ns))});
    return editor.take();
  };
  const DurationNs step = predictor.baseline().recorded;
  // In shorter steps, processors are busier, and handing over a batch takes longer.
  DurationNs batch;
  Scenario scenario;
  DurationNs rest;
  Crew crew;
  const auto with_steps = [&](double shorter) {
    batch = hand_over(context, processors_wanted(context, shorter)) + beside_hand_over(context);
    scenario = handing_over(batch);
    rest = predictor.predict(std::span(&scenario, 1)).front().step;
    crew = crew_for(context, work, rest);
    return ratio(std::max(rest, crew.least), step);
  };
  constexpr int kHalvings = 6;
  double least = 0;
  double most = std::max(1.0, with_steps(0));
  for (int i = 0; i < kHalvings && batch.ns > 0; ++i) {
    const double middle = std::midpoint(least, most);
    (with_steps(middle) > middle ? least : most) = middle;
  }
  with_steps(most);
  Proposal proposal;
  proposal.applies = true;
  proposal.scenario = std::move(scenario);
  proposal.scenario.at_least = crew.least;
  DurationNs computed = std::ranges::max(computed_of) / count;
  // A collate function that sleeps or waits for a service uses no processor.
  if (const auto share = sampled_share_of_making(context))
    computed = std::min(computed, DurationNs{std::llround(*share * static_cast<double>(work.ns))});
  const auto idle = idle_processors(context, step);
  if (idle && computed > *idle)  // what does not fit there stays, and taking batches comes on top
    proposal.scenario.at_least = std::max(proposal.scenario.at_least, rest + computed - *idle);
  if (crew.by_fewer) {
    proposal.otherwise.push_back(proposal.scenario);
    proposal.otherwise.back().at_least = *crew.by_fewer;
  }
  if (batch.ns > 0) {
    const auto slowly = static_cast<double>(batch.ns) * kSlowWaking;
    proposal.otherwise.push_back(handing_over({std::llround(slowly)}));
    proposal.otherwise.back().at_least = proposal.scenario.at_least;
  }
  const StorageModel storage = storage_of_run(predictor);
  const DurationNs reading = work - computed;
  if (storage.shared() && !reads_come_from_memory(predictor.trace(), context.steps.warm_from())) {
    // Transfers of several readers share the rate that the one reader had; or each has its own.
    const DurationNs transfers{
        std::llround(ratio(storage.turns, storage.total) * static_cast<double>(reading.ns))};
    proposal.otherwise.push_back(proposal.scenario);
    proposal.scenario.at_least = std::max(proposal.scenario.at_least, transfers);
  }
  proposal.text = fmt::format("{} {} the batches during the step", crew.workers,
                              crew.workers == 1 ? "worker makes" : "workers make");
  proposal.setting = fmt::format("--workers {}", crew.workers);
  // As in `more-workers`: one batch for each worker, and one that is ready.
  if (const std::string_view ahead = predictor.trace().setting("prefetch"); !ahead.empty())
    proposal.setting += fmt::format(" --prefetch {}", crew.workers + 1);
  // A run without workers does not show how long restarting them takes, so restarts are turned off.
  if (predictor.trace().setting("worker_reuse") == "off") proposal.setting += " --worker-reuse on";
  const DurationNs making = std::accumulate(work_of.begin(), work_of.end(), DurationNs{});
  proposal.certainty =
      storage.serves(static_cast<double>(crew.workers), ratio(storage.total, making));
  if (!storage.limited()) {
    proposal.certainty =
        certainty_if_full(predictor, proposal.scenario, reading, proposal.certainty);
    add_if_full(predictor, proposal, reading);
  }
  return proposal;
}

}  // namespace

const Fix kUseWorkers{
    "use-workers",
    "Use workers to make batches",
    "input-bound",
    FixKind::kStructural,
    0.1,
    "--workers",
    "Batch making moves to enough workers to hide it, with one processor reserved for training "
    "compute. A step takes at least one batch divided by the workers, compute uses only idle "
    "processors, and the bytes of all reads share the rate of the recorded ones, if calls on files "
    "show it. In PyTorch, each batch costs 0.2 to 1.0 ms, each tensor 0.15 to 0.45 ms, and the "
    "parallel compute 0.3 ms; three times as much with slow thread wake-up.",
    "the handover cost in frameworks other than PyTorch, and whether storage and memory serve "
    "several workers",
    propose};

}  // namespace headway::analyzer
