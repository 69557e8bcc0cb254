// SPDX-License-Identifier: MIT
// More workers make batches. This changes which worker makes which batch, and the order in which
// batches are ready. The workers are served like the recorded ones, from one queue or each in
// turn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Limit of workers if the number of processors is not known: the share of one GPU in a node.
constexpr std::size_t kMostWorkers = 16;
/// If the storage is loaded this much, more workers do not make batches faster.
constexpr double kFullLoad = 0.95;

DurationNs mean_length(const Points& points, std::span<const BatchTask> batches) {
  DurationNs sum;
  for (const BatchTask& made : batches) sum += points.interval(made.task).length();
  return sum / std::ssize(batches);
}

/// True if workers restart with each epoch, by the program's settings. Added workers would, too.
bool start_anew(const Predictor& predictor) {
  const bool told = predictor.trace().setting("worker_reuse") == "off" ||
                    rule_context(predictor).program.uses(Framework::kPyTorch);
  return told && kPersistentWorkers.propose(predictor).applies;
}

/// If there are more workers than free processors, they compete with the training thread also when
/// it takes a batch. So taking a batch takes no less time than recorded, even if the batch is
/// ready.
void take_as_recorded(const Predictor& predictor, Editor& editor) {
  const DependencyGraph& graph = predictor.program().graph();
  const Points& points = graph.points();
  for (const Loader& loader : find_loaders(points))
    for (const BatchTask& wait : loader.waited)
      if (graph.is_waiting(wait.task)) {
        const DurationNs usual = graph.calibration().batch.p50;
        const DurationNs least = std::min(points.interval(wait.task).length(), usual);
        if (least > graph.base(wait.task)) editor.set_duration(wait.task, least, true);
      }
}

Proposal propose(const Predictor& predictor) {
  const Points& points = predictor.program().graph().points();
  const Proposal free = kFreeInput.propose(predictor);
  const std::vector<Loader> loaders = find_loaders(points);
  const bool made_by_others = std::ranges::any_of(
      loaders, [&](const Loader& loader) { return has_workers(points, loader); });
  if (!free.applies || !made_by_others) return not_here("no workers make batches");
  const DurationNs step = predictor.predict(free.scenario).step;
  std::size_t limit = kMostWorkers;
  DurationNs least;
  Editor editor(predictor);
  LoaderPools pools(predictor, editor);
  std::size_t most = 0;
  std::size_t before = 0;
  auto ahead = static_cast<std::size_t>(batches_ahead(predictor.trace()));
  double certainty = 1;
  DurationNs if_full;  // time of a step's reads if the storage is already at its limit
  DurationNs turn;     // time of a batch at the storage
  bool storage_full = false;
  const bool persistent = start_anew(predictor);
  for (const Loader& loader : loaders) {
    if (loader.made.empty() || loader.waited.empty()) continue;
    const std::size_t now = workers_at_once(points, loader);
    const std::span<const BatchTask> counted =
        made_from(points, loader, predictor.analysis().steps.warm_from());
    const DurationNs making = mean_length(points, counted);
    const StorageModel& storage = pools.storage_of(loader);
    turn = storage.shared() ? storage.turns / std::ssize(counted) : DurationNs{};
    if (ratio(turn * static_cast<std::int64_t>(now), making) >= kFullLoad) {
      storage_full = true;
      before = std::max(before, now);
      most = std::max(most, now);
      pools.add_as_recorded(loader);
      continue;
    }
    const double batches =
        static_cast<double>(loader.made.size()) /
        static_cast<double>(std::max<std::size_t>(1, steps_of_a_thread(predictor)));
    const auto of_step = [&](DurationNs of_batch) {
      return DurationNs{std::llround(batches * static_cast<double>(of_batch.ns))};
    };
    // Beyond what the storage serves, workers wait for each other.
    const auto needed =
        static_cast<std::size_t>(workers_needed(of_step(making), std::max(of_step(turn), step)));
    const WorkerRoom room = room_for_workers(rule_context(predictor), step, of_step(making));
    if (room.workers > 0) limit = static_cast<std::size_t>(room.workers);
    least = std::max(least, room.step);
    const std::size_t workers = std::max(now, std::min(needed, limit));
    const bool in_turns = is_in_turns(points, loader, now);
    const std::size_t depth = in_turns ? loader.depth * workers / now
                                       : std::max(loader.depth, workers > now ? workers + 1 : 0);
    if (persistent)
      pools.add_persistent(loader, workers, depth, in_turns);
    else
      pools.add(loader, workers, depth, in_turns);
    // At most as many workers read at once as batches are in work.
    const auto readers = static_cast<double>(std::max<std::size_t>(1, std::min(now, loader.depth)));
    certainty =
        std::min(certainty, pools.certainty_of(loader, static_cast<double>(workers) / readers));
    if_full = std::max(if_full, pools.least_if_full(loader, readers).value_or(DurationNs{}));
    if (workers > most) {
      most = workers;
      before = now;
      ahead = std::max(ahead, depth);
    }
  }
  if (most <= before && storage_full) {
    return not_here(fmt::format("{} {} the storage: a batch every {}", before,
                                before == 1 ? "worker saturates" : "workers saturate",
                                format_duration(turn)));
  }
  if (most <= before) {
    return not_here(fmt::format("{} {} {}", before, before == 1 ? "worker" : "workers",
                                limit <= before ? "already use all available processors"
                                                : "already make batches at the required rate"));
  }
  if (persistent) drop_restarts(predictor, editor);
  if (static_cast<std::int64_t>(most) >= processor_count(predictor.trace()))
    take_as_recorded(predictor, editor);
  Proposal proposal{true,
                    fmt::format("{} workers{} make batches instead of {}, with {} prefetched", most,
                                persistent ? " that stay alive" : "", before, ahead),
                    editor.take()};
  proposal.setting = fmt::format("--workers {} --prefetch {}{}", most, ahead,
                                 persistent ? " --worker-reuse on" : "");
  pools.move_into(proposal.scenario);
  proposal.scenario.at_least = least;
  proposal.certainty = if_full.ns > 0
                           ? certainty_if_full(predictor, proposal.scenario, if_full, certainty)
                           : certainty;
  add_if_full(predictor, proposal, if_full);
  return proposal;
}

}  // namespace

const Fix kMoreWorkers{
    "more-workers",
    "Use more loader workers",
    "input-bound, workers-starved",
    FixKind::kStructural,
    0.05,
    "--workers",
    "Enough workers to hide batch making, or to keep all processors busy, with one reserved for "
    "training. A worker needs none while it waits for storage. Each batch takes its recorded time; "
    "prefetch grows "
    "with the workers, and none restarts with an epoch. Reads share storage bandwidth if the "
    "recorded ones do.",
    "whether memory, and storage that showed no limit, serve more workers equally fast",
    propose};

}  // namespace headway::analyzer
