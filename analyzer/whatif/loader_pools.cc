// SPDX-License-Identifier: MIT
#include "analyzer/whatif/loader_pools.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/host_time.h"

namespace headway::analyzer {

using namespace trace;

StorageModel storage_of_run(const Predictor& predictor, const std::set<ThreadId>& threads) {
  StorageModel model = storage_model(predictor.whole(), predictor.warm_from(), threads);
  if (&predictor.whole() == &predictor.trace() || model.reads.empty()) return model;
  TimeNs first = TimeNs::max();
  TimeNs last = TimeNs::min();
  for_each_read(predictor.trace(), TimeNs::min(), [&](ThreadId, Interval time, std::int64_t) {
    first = std::min(first, time.begin);
    last = std::max(last, time.begin);
  });
  std::erase_if(model.reads, [&](const StorageRead& read) {
    return read.time.begin < first || read.time.begin > last;
  });
  model.total = {};
  model.turns = {};
  for (const StorageRead& read : model.reads) {
    model.total += read.time.length();
    model.turns += (read.held + read.transfer) / model.places;
  }
  return model;
}

namespace {

/// Mean number of batches that a step takes from the loader.
double taken_per_step(const Predictor& predictor, const Loader& loader) {
  const TimeNs since = predictor.analysis().steps.warm_from();
  const Points& points = predictor.program().graph().points();
  const auto taken = std::ranges::count_if(
      loader.waited, [&](const auto& one) { return points.interval(one.task).begin >= since; });
  return static_cast<double>(taken) / static_cast<double>(steps_of_a_thread(predictor, since));
}

}  // namespace

DurationNs least_for_storage(const Predictor& predictor, double times_bytes) {
  const Steps& steps = predictor.analysis().steps;
  if (steps.steady.empty()) return {};
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  const LoaderPools pools(predictor, editor);
  double most = 0;
  for (const Loader& loader : find_loaders(points)) {
    if (loader.made.empty()) continue;
    Interval window{steps.all[steps.steady.front()].host.begin,
                    steps.all[steps.steady.back()].host.end};
    // After the last batch has begun, workers run out of work and the storage becomes idle.
    TimeNs last = window.begin;
    for (const BatchTask& made : loader.made)
      last = std::max(last, points.interval(made.task).begin);
    window.end = std::min(window.end, last);
    const StorageModel& storage = pools.storage_of(loader);
    if (!storage.limited() || window.empty()) continue;
    double busy = 0;
    for (const StorageRead& read : storage.reads)
      if (window.contains(read.time.begin))
        busy +=
            static_cast<double>(read.held.ns) + times_bytes * static_cast<double>(read.transfer.ns);
    // While the queue fills, workers make more batches than the steps take.
    double made = 0;
    for (const BatchTask& batch : loader.made) {
      const Interval time = points.interval(batch.task);
      const Interval within = intersect(time, window);
      if (!within.empty()) made += ratio(within.length(), time.length());
    }
    if (made > 0)
      most = std::max(most, busy / storage.places / made * taken_per_step(predictor, loader));
  }
  // The recorded step was possible, so the limit is at most its length, even if the fit says more.
  const DurationNs as_recorded = predictor.baseline().recorded + predictor.baseline().cost.of_step;
  const DurationNs least{std::llround(most)};
  return times_bytes <= 1 ? std::min(least, as_recorded) : least;
}

bool has_workers(const Points& points, const Loader& loader) {
  return !loader.made.empty() && !loader.waited.empty() &&
         points.thread_of(loader.made.front().task) != points.thread_of(loader.waited.front().task);
}

std::set<ThreadId> workers_of(const Points& points, const Loader& loader) {
  std::set<ThreadId> workers;
  for (const BatchTask& made : loader.made) workers.insert(points.thread_of(made.task));
  return workers;
}

std::size_t workers_at_once(const Points& points, const Loader& loader) {
  std::map<ThreadId, Interval> lives;
  for (const BatchTask& made : loader.made) {
    const Interval task = points.interval(made.task);
    Interval& life = lives.emplace(points.thread_of(made.task), task).first->second;
    life = {std::min(life.begin, task.begin), std::max(life.end, task.end)};
  }
  std::vector<Interval> together;
  for (const auto& [thread, life] : lives) together.push_back(life);
  return std::max<std::size_t>(1, most_at_once(together));
}

bool drop_restarts(const Predictor& predictor, Editor& editor) {
  bool any = false;
  const Trace& trace = predictor.trace();
  const std::vector<bool> trains = training_threads(rule_context(predictor));
  for_each_host_time(predictor, [&](ThreadId thread, Interval, const Constraint& constraint) {
    const Part& part = predictor.parts()[constraint.part.value];
    if (trains[thread.value] && part.kind == Part::Kind::kHost && part.name.valid() &&
        between_cause_of_name(trace.strings[part.name]) == BetweenCause::kLoaderRestart) {
      editor.set_lag(constraint.id, {0});
      any = true;
    }
  });
  return any;
}

namespace {

/// How long the device stays busy with the work that a process has launched so far.
class Backlog {
 public:
  explicit Backlog(const Trace& trace) : trace_(trace) {
    const DeviceOps& ops = trace.device_ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (!ops.call[i].valid()) continue;
      const std::uint32_t call = ops.call[i].value;
      launched_[process_of(trace.calls.thread[call])].push_back(
          {trace.calls.start[call], ops.end[i]});
    }
    for (auto& [process, launches] : launched_) {
      std::ranges::sort(launches, {}, &Interval::begin);
      for (std::size_t i = 1; i < launches.size(); ++i)
        launches[i].end = std::max(launches[i].end, launches[i - 1].end);
    }
  }

  DurationNs at(ThreadId thread, TimeNs time) const {
    if (!thread.valid()) return {};
    const auto launches = launched_.find(process_of(thread));
    if (launches == launched_.end()) return {};
    const auto next = std::ranges::upper_bound(launches->second, time, {}, &Interval::begin);
    if (next == launches->second.begin()) return {};
    return std::max(DurationNs{0}, (next - 1)->end - time);
  }

 private:
  ProcessId process_of(ThreadId thread) const { return trace_.threads[thread.value].process; }

  const Trace& trace_;
  /// By launch time: an interval from the launch to the end of all work launched by then.
  std::map<ProcessId, std::vector<Interval>> launched_;
};

}  // namespace

void repeat_epochs(const Predictor& predictor, int times, double growth, Editor& editor) {
  const Trace& trace = predictor.trace();
  const Program& program = predictor.program();
  const Points& points = program.graph().points();
  const std::vector<bool> trains = training_threads(rule_context(predictor));
  const Backlog backlog(trace);
  auto repeat = [&](const Constraint& constraint, DurationNs hidden = {0}) {
    // The device hides this part of the recorded event, and as much of each added one.
    const DurationNs of_each = std::min(constraint.lag, hidden);
    editor.set_lag(constraint.id, constraint.lag * times - of_each * (times - 1));
  };
  auto restart = [&](const Constraint& constraint, ThreadId thread, TimeNs begin) {
    const auto left = static_cast<double>(backlog.at(thread, begin).ns);
    repeat(constraint, {std::llround(growth * left)});
  };
  for_each_host_time(
      predictor, [&](ThreadId thread, Interval recorded, const Constraint& constraint) {
        const Part& part = predictor.parts()[constraint.part.value];
        if (!trains[thread.value] || part.kind != Part::Kind::kHost || !part.name.valid()) return;
        const BetweenCause cause = between_cause_of_name(trace.strings[part.name]);
        if (cause == BetweenCause::kLoaderRestart) restart(constraint, thread, recorded.begin);
        if (cause == BetweenCause::kEvaluation) repeat(constraint);
      });
  for (const Loader& loader : find_loaders(points)) {
    // Without waits, the training thread (and so the device that hides restarts) is not known.
    const ThreadId trainer =
        loader.waited.empty() ? ThreadId::none() : points.thread_of(loader.waited.front().task);
    const std::vector<BatchStart> starts = starts_of(points, loader);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (!starts[i].late) continue;
      const EdgeKind pause = starts[i].after.valid() ? EdgeKind::kHandOver : EdgeKind::kThreadOrder;
      program.for_each(program.slot_of(start_of(loader.made[i].task)),
                       [&](const Constraint& constraint) {
                         if (constraint.kind == pause)
                           restart(constraint, trainer, program.recorded(constraint.from));
                       });
    }
  }
}

std::size_t steps_of_a_thread(const Predictor& predictor, TimeNs since) {
  std::set<ThreadId> threads;
  std::size_t steps = 0;
  for (const Step& step : predictor.analysis().steps.all) {
    threads.insert(step.thread);
    steps += step.host.begin >= since;
  }
  return std::max<std::size_t>(1, steps / std::max<std::size_t>(1, threads.size()));
}

std::span<const BatchTask> made_from(const Points& points, const Loader& loader, TimeNs since) {
  const std::span<const BatchTask> all = loader.made;
  const auto first = std::ranges::find_if(
      all, [&](const BatchTask& made) { return points.interval(made.task).begin >= since; });
  return first == all.end() ? all : std::span(first, all.end());
}

void add_if_full(const Predictor& predictor, Proposal& proposal, DurationNs least) {
  least = std::min(least, predictor.baseline().recorded);  // more readers make nothing slower
  if (least <= proposal.scenario.at_least) return;
  proposal.otherwise.push_back(proposal.scenario);
  proposal.otherwise.back().at_least = least;
}

double certainty_if_full(const Predictor& predictor, const Scenario& scenario, DurationNs least,
                         double serves) {
  const DurationNs gain = predictor.predict(scenario).gain;
  if (gain.ns <= 0) return serves;
  Scenario full = scenario;
  full.at_least = std::max(full.at_least, least);
  const double certain = std::clamp(ratio(predictor.predict(full).gain, gain), 0.0, 1.0);
  return std::lerp(serves, 1.0, certain);
}

bool is_in_turns(const Points& points, const Loader& loader, std::size_t workers) {
  const Trace& trace = points.trace();
  auto process_of = [&](TaskId task) {
    return trace.threads[points.thread_of(task).value].process;
  };
  if (process_of(loader.made.front().task) == process_of(loader.waited.front().task)) return false;
  for (std::size_t i = workers; i < loader.made.size(); ++i) {
    if (points.thread_of(loader.made[i].task) != points.thread_of(loader.made[i - workers].task))
      return false;
  }
  return true;
}

LoaderPools::LoaderPools(const Predictor& predictor, Editor& editor)
    : program_(predictor.program()),
      points_(program_.graph().points()),
      since_(predictor.analysis().steps.warm_from()),
      steps_(steps_of_a_thread(predictor, since_)),
      editor_(editor),
      parts_(predictor.parts()) {
  storages_.push_back(storage_of_run(predictor));
  std::vector<Loader> loaders = find_loaders(points_);
  std::erase_if(loaders, [](const Loader& loader) { return loader.made.empty(); });
  if (loaders.size() < 2) return;
  std::vector<StorageModel> own;
  double error = 0;
  for (const Loader& loader : loaders) {
    own.push_back(storage_of_run(predictor, workers_of(points_, loader)));
    first_reader_.push_back(points_.thread_of(loader.made.front().task));
    error += own.back().error_ns;
  }
  const StorageModel& all = storages_.front();
  const bool better = all.limited() && all.error_ns * static_cast<double>(own.size()) <= error;
  const bool one_for_all =
      all.in_turns || (better && std::ranges::none_of(own, &StorageModel::in_turns));
  if (!one_for_all) storages_ = std::move(own);
}

StorageModel storage_of_loaders(const Predictor& predictor) {
  Editor editor(predictor);
  const LoaderPools pools(predictor, editor);
  const std::vector<Loader> loaders = find_loaders(predictor.program().graph().points());
  const auto loader =
      std::ranges::find_if(loaders, [](const Loader& one) { return !one.made.empty(); });
  return loader == loaders.end() ? storage_of_run(predictor) : pools.storage_of(*loader);
}

std::uint32_t LoaderPools::server_of(const Loader& loader) const {
  if (storages_.size() == 1) return 0;
  const auto at = std::ranges::find(first_reader_, points_.thread_of(loader.made.front().task));
  return static_cast<std::uint32_t>(at - first_reader_.begin());
}

void LoaderPools::add(const Loader& loader, std::size_t workers, std::size_t depth, bool in_turns,
                      bool persistent) {
  const std::uint32_t server = server_of(loader);
  const bool as_many = persistent || workers == workers_at_once(points_, loader);
  Pool pool{{}, workers, in_turns, as_many, persistent};
  const std::vector<BatchStart> starts = starts_of(points_, loader);
  PointId epoch;                                           // the event that began the batch's epoch
  std::vector<Slot> last(points_.trace().threads.size());  // by worker: end of its previous task
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    const TaskId made = loader.made[i].task;
    editor_.remove_edges(start_of(made), EdgeKind::kBatchSlot);
    Slot& before = last[points_.thread_of(made).value];
    Pool::Task task = first_slot(made, before);
    task.end = program_.slot_of(end_of(made));
    if (persistent) editor_.remove_edges(start_of(made), EdgeKind::kHandOver);
    // Workers that get their batches in advance get those of an epoch when it begins.
    if (!persistent && starts[i].after.valid()) epoch = starts[i].after;
    if (persistent && in_turns && starts[i].asked.valid()) epoch = starts[i].asked;
    PointId room = room_for(points_, loader, i, depth);
    if (epoch.valid() && (!room.valid() || points_.before(room, epoch))) room = epoch;
    if (room.valid() && program_.slot_of(room) < task.begin) task.room = program_.slot_of(room);
    before = task.end;
    pool.tasks.push_back(task);
    if (storages_[server].shared()) add_visits(task, points_.thread_of(made), server);
  }
  std::ranges::sort(pool.tasks, {}, [](const Pool::Task& task) { return task.begin.value; });
  pools_.push_back(std::move(pool));
}

void LoaderPools::add_as_recorded(const Loader& loader) {
  const std::size_t workers = workers_at_once(points_, loader);
  add(loader, workers, loader.depth, is_in_turns(points_, loader, workers));
}

double LoaderPools::certainty_of(const Loader& loader, double times_readers) const {
  DurationNs making;
  for (const BatchTask& made : made_from(points_, loader, since_))
    making += points_.interval(made.task).length();
  const StorageModel& storage = storage_of(loader);
  return making.ns > 0 ? storage.serves(times_readers, ratio(storage.total, making)) : 1;
}

std::optional<DurationNs> LoaderPools::least_if_full(const Loader& loader, double readers) const {
  const StorageModel& storage = storage_of(loader);
  if (storage.limited()) return std::nullopt;
  const std::set<ThreadId> workers = workers_of(points_, loader);
  DurationNs reading;
  for (const StorageRead& read : storage.reads)
    if (workers.contains(read.thread)) reading += read.time.length();
  return DurationNs{std::llround(static_cast<double>(reading.ns) /
                                 (std::max(1.0, readers) * static_cast<double>(steps_)))};
}

bool LoaderPools::add_persistent(const Loader& loader) {
  const std::size_t at_once = workers_at_once(points_, loader);
  // A short epoch does not show how far ahead batches may be made.
  const auto ahead = static_cast<std::size_t>(batches_ahead(points_.trace()));
  return add_persistent(loader, at_once, std::max(loader.depth, ahead),
                        is_in_turns(points_, loader, at_once));
}

bool LoaderPools::add_persistent(const Loader& loader, std::size_t workers, std::size_t depth,
                                 bool in_turns) {
  add(loader, workers, depth, in_turns, true);
  const Pool& pool = pools_.back();
  std::map<std::uint32_t, ConstraintId> pause;  // before a task, by its end
  for (const Pool::Task& task : pool.tasks) pause[task.end.value] = task.after;
  const std::vector<BatchStart> starts = starts_of(points_, loader);
  bool any = false;
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    if (!starts[i].late) continue;
    any = true;
    const ConstraintId before = pause[program_.slot_of(end_of(loader.made[i].task)).value];
    if (before.valid()) editor_.set_lag(before, {0});
  }
  return any;
}

/// Adds the stretches of a task in which its thread reads, with the parts that depend on other
/// readers.
void LoaderPools::add_visits(const Pool::Task& task, ThreadId thread, std::uint32_t server) {
  for (Slot at = task.end; at != task.begin;) {
    const Constraint inner = program_.own_into(at, task.begin);
    if (!inner.from.valid()) return;
    const Part& part = parts_[inner.part.value];
    if (part.kind == Part::Kind::kHost && part.time_class == TimeClass::kIoRead) {
      const TimeNs begin = program_.recorded(inner.from);
      Visit visit{inner.id, server};
      DurationNs known;
      for (const StorageRead* read :
           reads_of(storages_[server], thread, {begin, begin + inner.lag})) {
        visit.alone += read->alone.ns;
        visit.held += read->held.ns;
        visit.fixed += read->transfer.ns;
        known += read->time.length();
      }
      // The rest, such as reads of unknown size, does not depend on other readers.
      visit.alone += std::max(DurationNs{0}, inner.lag - known).ns;
      if (visit.held + visit.fixed > 0) visits_.push_back(visit);
    }
    at = inner.from;
  }
}

void LoaderPools::move_into(Scenario& scenario, double times_bytes) {
  for (Visit& visit : visits_) visit.fixed *= times_bytes;
  std::ranges::sort(visits_, {}, &Visit::constraint);
  scenario.pools = std::move(pools_);
  scenario.visits = std::move(visits_);
  for (const StorageModel& storage : storages_) scenario.places.push_back(storage.places);
}

/// Goes back along the worker's thread to the end of its previous task.
Pool::Task LoaderPools::first_slot(TaskId made, Slot before) const {
  Pool::Task task;
  task.begin = program_.slot_of(start_of(made));
  if (!before.valid()) return task;
  for (;;) {
    Constraint back;
    program_.for_each(task.begin, [&](const Constraint& constraint) {
      const bool same_thread = constraint.kind == EdgeKind::kThreadOrder ||
                               constraint.kind == EdgeKind::kThreadBlocked ||
                               constraint.kind == EdgeKind::kDuration;
      if (same_thread && constraint.from >= before &&
          (!back.from.valid() || back.from < constraint.from))
        back = constraint;
    });
    if (!back.from.valid()) return task;
    if (back.from == before) {
      task.after = back.id;
      return task;
    }
    task.begin = back.from;
  }
}

}  // namespace headway::analyzer
