// SPDX-License-Identifier: MIT
#include "analyzer/replay/shared_processors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/graph/loaders.h"
#include "analyzer/replay/host_time.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Share of all computing: where threads wait less than this for processors, none are shared.
constexpr double kContended = 0.01;
/// Replays until the assumed and the needed lengths agree within kAgree.
constexpr int kMostPasses = 8;
constexpr double kAgree = 0.003;
/// Share of the processors' time from which on threads wait for one.
constexpr double kFull = 0.9;
/// What a thread that slept computes, in ns, beyond its share before it has to share. Measured on
/// Linux 6.18 with two processors: 0.4 ms, the median of -0.04 to 1.1 (tests/bench/processor_share.py).
constexpr double kCredit = 0.5e6;

/// Share of its time in which a worker wants a processor, from the processor time that its process got while there was
/// enough. 1 where that was not sampled.
double share_that_computes(const Trace& trace, const Analysis& analysis,
                           const std::vector<BatchTask>& made, const Points& points,
                           std::int64_t processors) {
  const Steps& steps = analysis.steps;
  if (steps.steady.empty()) return 1;
  const Interval window{steps.all[steps.steady.front()].host.begin,
                        steps.all[steps.steady.back()].host.end};
  std::set<ProcessId> makers;
  DurationNs making;
  for (const BatchTask& one : made) {
    makers.insert(trace.threads[points.thread_of(one.task).value].process);
    making += intersect(points.interval(one.task), window).length();
  }
  const auto taken = processors_taken(trace, steps, std::move(makers), window);
  double all = 0;
  for (const CounterSeries& series : trace.counters)
    if (series.name == counters::kProcessCpu) all += processors_of(trace, series, window);
  if (!taken || making.ns <= 0 || all >= kFull * static_cast<double>(processors)) return 1;
  const double share = *taken / ratio(making, window.length());
  return std::clamp(share, 0.01, 1.0);
}

}  // namespace

/// The speed of threads over time; 1: each has its own processor.
class SharedProcessors::Profile {
 public:
  struct Change {
    double time;
    double working;  ///< change of the number of busy workers
    int training;
  };
  Profile(std::vector<Change> changes, double processors, double computes, bool training_shares)
      : processors_(processors),
        computes_(computes),
        // On a single processor, no other thread would run meanwhile.
        most_credit_(training_shares || processors <= 1 ? 0 : kCredit) {
    std::ranges::sort(changes, {}, &Change::time);
    double credit = most_credit_;
    double working = 0;
    int training = 0;
    for (auto change = changes.begin(); change != changes.end();) {
      const double at = change->time;
      for (; change != changes.end() && change->time == at; ++change) {
        working += change->working;
        training += change->training;
      }
      const double left = (change == changes.end() ? kNever : change->time) - at;
      add(at, left, working, training > 0, credit);
    }
  }

  /// The work done in a stretch of that length, in ns at speed 1.
  double done(double begin, double length, bool trains) const {
    double sum = 0;
    walk(begin, [&](double from, double to, const Piece& piece) {
      const double end = std::min(to, begin + length);
      sum += (end - from) * (trains ? own_of(piece) : speed(piece.working, piece.own));
      return end < begin + length;
    });
    return sum;
  }
  /// How long `work` takes a thread that the profile already counts for the first `counted` ns.
  double length_of(double begin, double work, double counted, bool trains) const {
    double left = work;
    double end = begin;
    walk(begin, [&](double from, double to, const Piece& piece) {
      const double own_end = begin + counted;
      // Cut where the counted part ends.
      for (const auto& [a, b, own] : {std::tuple(from, std::min(to, own_end), true),
                                      std::tuple(std::max(from, own_end), to, false)}) {
        if (b <= a) continue;
        const double by = trains ? own_of(piece) : speed(piece.working + (own ? 0 : 1), piece.own);
        if ((b - a) * by >= left) {
          end = a + left / by;
          left = 0;
          return false;
        }
        left -= (b - a) * by;
        end = b;
      }
      return true;
    });
    return end - begin + left;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Nothing changes from `at` to the next one.
  struct Piece {
    double at;
    double working;  ///< busy workers
    double own;      ///< speed of the training thread; 0: it sleeps
  };

  double fair(double working) const {
    return std::min(1.0, processors_ / (working * computes_ + 1));
  }
  /// Adds the pieces of `left` ns from `at` on.
  void add(double at, double left, double working, bool training, double& credit) {
    const double share = fair(working);
    if (training && credit > 0 && share < 1) {
      const double lasts = credit / (1 - share);
      pieces_.push_back({at, working, 1});
      credit -= std::min(left, lasts) * (1 - share);
      if (lasts >= left) return;
      credit = 0;
      at += lasts;
      left -= lasts;
    }
    pieces_.push_back({at, working, training ? share : 0});
    if (!training) credit = std::min(most_credit_, credit + share * left);
  }
  /// Speed of the training thread if it computes now.
  double own_of(const Piece& piece) const {
    return piece.own > 0 ? piece.own : fair(piece.working);
  }
  /// Speed of a worker that computes now.
  double speed(double working, double own) const {
    const double wanted = std::max(computes_, working * computes_);
    const double left =
        own > 0 ? std::max(processors_ - own, processors_ / (wanted + 1)) : processors_;
    const double rate = std::min(1.0, left / std::max(1e-9, wanted));
    return 1 / (1 - computes_ + computes_ / rate);
  }

  /// Calls `visit(from, to, piece)` for each piece from `begin` on, until it returns false.
  template <class Visit>
  void walk(double begin, Visit visit) const {
    constexpr Piece kBefore{0, 0, 0};
    auto next = std::ranges::upper_bound(pieces_, begin, {}, &Piece::at);
    double from = begin;
    for (;; ++next) {
      const double to = next == pieces_.end() ? kNever : next->at;
      if (!visit(from, to, next == pieces_.begin() ? kBefore : *std::prev(next))) return;
      if (to == kNever) return;
      from = to;
    }
  }

  double processors_;
  double computes_;
  double most_credit_;
  std::vector<Piece> pieces_;
};

SharedProcessors::SharedProcessors(const Program& program, const std::vector<Part>& parts,
                                   const Analysis& analysis)
    : program_(program),
      parts_(parts),
      reads_compute_(
          reads_come_from_memory(program.graph().points().trace(), analysis.steps.warm_from())) {
  const Points& points = program.graph().points();
  const Trace& trace = points.trace();
  const std::int64_t processors = processor_count(trace);
  if (processors <= 0 || analysis.steps.all.empty()) return;
  processors_ = static_cast<double>(processors) / static_cast<double>(trainers_in(trace));
  training_shares_ = trace.device_ops.size() == 0;
  // Where the device is the host's processors, its threads take an unknown number of them.
  const bool known = std::ranges::none_of(
      trace.devices, [](const Device& device) { return device.type == DeviceType::kHost; });
  const auto steps = static_cast<double>(analysis.steps.all.size());
  double wanted = 0;
  double kept = 0;
  for (const Loader& loader : find_loaders(points)) {
    if (loader.made.empty()) continue;
    Group group;
    std::set<ThreadId> threads;
    ThreadId training;
    for (const BatchTask& wait : loader.waited) {
      training = points.thread_of(wait.task);
      group.waits.push_back(
          {program.slot_of(start_of(wait.task)), program.slot_of(end_of(wait.task))});
    }
    for (const BatchTask& made : loader.made) {
      threads.insert(points.thread_of(made.task));
      add_stretches(made.task, group);
    }
    threads.erase(training);
    group.workers = threads.size();
    if (group.workers > 0)
      group.computes = share_that_computes(trace, analysis, loader.made, points, processors);
    double computed = 0;
    for (const Stretch& stretch : group.stretches) computed += stretch.recorded;
    if (training.valid() && group.workers > 0) add_training(training, group);
    std::ranges::sort(group.stretches, {}, &Stretch::id);
    if (group.workers > 0 && known) {
      const auto recorded = [&](Slot slot) {
        return static_cast<double>(program.recorded(slot).ns);
      };
      std::vector<Busy> busy;
      for (const Stretch& stretch : group.stretches)
        if (!stretch.trains) busy.push_back({recorded(stretch.from), stretch.recorded});
      const Profile now = profile_of(group, busy, recorded);
      double alone = 0;
      for (Stretch& stretch : group.stretches) {
        stretch.alone = now.done(recorded(stretch.from), stretch.recorded, stretch.trains);
        wanted += stretch.recorded;
        kept += stretch.recorded - stretch.alone;
        if (!stretch.trains) alone += stretch.alone;
      }
      computed = alone;
    }
    const double trainers = static_cast<double>(trainers_in(trace));
    least_ = std::max(least_, DurationNs{std::llround(group.computes * computed / processors_ /
                                                      std::max(1.0, steps / trainers))});
    if (known) groups_.push_back(std::move(group));
  }
  contended_ = kept > kContended * wanted;
  if (!contended_) return;
  for (const Group& group : groups_)
    for (const Stretch& stretch : group.stretches)
      if (!stretch.trains) shares_alone_.emplace_back(stretch.id, stretch.alone / stretch.recorded);
  std::ranges::sort(shares_alone_);
}

double SharedProcessors::share_alone(ConstraintId id) const {
  const auto at =
      std::ranges::lower_bound(shares_alone_, id, {}, &std::pair<ConstraintId, double>::first);
  return at != shares_alone_.end() && at->first == id ? at->second : 1;
}

bool SharedProcessors::takes_a_processor(const Part& part) const {
  if (part.kind == Part::Kind::kHost)
    return reads_compute_ || part.time_class != TimeClass::kIoRead;
  return part.kind == Part::Kind::kCall;
}

/// Goes backwards along the thread.
void SharedProcessors::add_stretches(TaskId made, Group& group) const {
  const Slot begin = program_.slot_of(start_of(made));
  for (Slot at = program_.slot_of(end_of(made)); at != begin;) {
    const Constraint inner = program_.own_into(at, begin);
    if (!inner.from.valid()) return;
    const auto length = static_cast<double>(inner.lag.ns);
    if (takes_a_processor(parts_[inner.part.value]) && inner.lag.ns > 0)
      group.stretches.push_back({inner.id, inner.from, false, length, length});
    at = inner.from;
  }
}

void SharedProcessors::add_training(ThreadId training, Group& group) const {
  std::set<ConstraintId> makes;
  for (const Stretch& stretch : group.stretches) makes.insert(stretch.id);
  for_each_host_time(program_, [&](ThreadId thread, Interval, const Constraint& constraint) {
    if (thread != training || constraint.lag.ns <= 0 || makes.contains(constraint.id)) return;
    const Part& part = parts_[constraint.part.value];
    if (!takes_a_processor(part)) return;
    const auto length = static_cast<double>(constraint.lag.ns);
    group.stretches.push_back({constraint.id, constraint.from, true, length, length});
  });
}

template <class TimeOf>
SharedProcessors::Profile SharedProcessors::profile_of(const Group& group,
                                                       const std::vector<Busy>& workers,
                                                       TimeOf time_of) const {
  std::vector<Profile::Change> changes;
  for (const Busy& one : workers) {
    if (one.length <= 0) continue;
    changes.push_back({one.begin, 1, 0});
    changes.push_back({one.begin + one.length, -1, 0});
  }
  // The training thread computes when it does not wait for a batch.
  changes.push_back({std::numeric_limits<double>::lowest(), 0, 1});
  for (const Wait& wait : group.waits) {
    const double begin = time_of(wait.begin);
    changes.push_back({begin, 0, -1});
    changes.push_back({std::max(begin, time_of(wait.end)), 0, 1});
  }
  return Profile(std::move(changes), processors_, group.computes, training_shares_);
}

std::optional<Scenario> SharedProcessors::settled(Replayer& replayer,
                                                  const Scenario& scenario) const {
  if (processors_ <= 0 || groups_.empty()) return std::nullopt;
  std::size_t workers = 0;
  for (const Pool& pool : scenario.pools) workers = std::max(workers, pool.workers);
  const bool may_contend = static_cast<double>(workers + 1) > processors_;
  if (!contended_ && !may_contend) return std::nullopt;
  std::vector<Computing> computing;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (const Stretch& stretch : groups_[g].stretches) {
      const std::optional<DurationNs> lag = lag_under(scenario, program_.constraint(stretch.id));
      if (!lag) continue;
      const auto length = static_cast<double>(std::max<std::int64_t>(0, lag->ns));
      computing.push_back({&stretch, g, length, length * stretch.alone / stretch.recorded, length});
    }
  }
  const auto id_of = [](const Computing& one) { return one.stretch->id; };
  if (!std::ranges::is_sorted(computing, {}, id_of)) std::ranges::sort(computing, {}, id_of);
  Scenario shared = scenario;
  Times sum;
  for (const Computing& one : computing)
    (one.stretch->trains ? sum.training : sum.workers) += one.length;
  for (int pass = 0;; ++pass) {
    shared.edits = edited(scenario, computing);
    const Times needed = needed_at(replayer.run(shared), computing);
    const auto factor = [](double to, double from) { return from > 0 ? to / from : 1.0; };
    Times by{factor(needed.workers, sum.workers), factor(needed.training, sum.training)};
    const double most = std::max(std::abs(by.workers - 1), std::abs(by.training - 1));
    if (most <= kAgree || pass == kMostPasses) return shared;
    // Full processors need the whole correction; others may oscillate, so later passes take its root.
    if (pass > 1) by = {std::sqrt(by.workers), std::sqrt(by.training)};
    sum = {sum.workers * by.workers, sum.training * by.training};
    share_out(computing, false, sum.workers);
    share_out(computing, true, sum.training);
  }
}

void SharedProcessors::share_out(std::vector<Computing>& computing, bool trains, double all) {
  double scaled = 0;
  double alone = 0;
  for (const Computing& one : computing) {
    if (one.stretch->trains != trains) continue;
    scaled += one.scaled;
    alone += one.alone;
  }
  const bool longer = all > scaled;
  const auto least = [&](const Computing& one) { return longer ? one.scaled : one.alone; };
  const auto growing = [&](const Computing& one) { return longer ? one.alone : one.scaled; };
  if (alone <= 0 || scaled <= 0) return;
  // The sum of max(least, by * growing) is convex in `by`, and this is where it is `all` or more: Newton's steps come down to it.
  double by = longer ? all / alone : 1;
  constexpr int kMostSteps = 50;
  for (int i = 0; i < kMostSteps; ++i) {
    double fixed = 0;
    double slope = 0;
    for (const Computing& one : computing) {
      if (one.stretch->trains != trains) continue;
      const bool grows = by * growing(one) > least(one);
      (grows ? slope : fixed) += grows ? growing(one) : least(one);
    }
    const double next = slope > 0 ? std::max(0.0, (all - fixed) / slope) : by;
    if (next >= by) break;
    by = next;
  }
  for (Computing& one : computing)
    if (one.stretch->trains == trains) one.length = std::max(least(one), by * growing(one));
}

/// The scenario's edits with the lengths of `computing` in place of theirs.
std::vector<Edit> SharedProcessors::edited(const Scenario& scenario,
                                           const std::vector<Computing>& computing) {
  std::vector<Edit> edits;
  auto old = scenario.edits.begin();
  for (const Computing& one : computing) {
    const ConstraintId id = one.stretch->id;
    for (; old != scenario.edits.end() && old->constraint < id; ++old) edits.push_back(*old);
    const bool both = old != scenario.edits.end() && old->constraint == id;
    edits.push_back({id, both && old->modelled, std::llround(one.length)});
    if (both) ++old;
  }
  edits.insert(edits.end(), old, scenario.edits.end());
  return edits;
}

SharedProcessors::Times SharedProcessors::needed_at(const std::vector<std::int64_t>& times,
                                                    const std::vector<Computing>& computing) const {
  const auto time_of = [&](Slot slot) { return static_cast<double>(times[slot.value]); };
  std::vector<std::vector<Busy>> busy(groups_.size());
  for (const Computing& one : computing)
    if (!one.stretch->trains) busy[one.group].push_back({time_of(one.stretch->from), one.length});
  std::vector<Profile> profiles;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    profiles.push_back(profile_of(groups_[g], busy[g], time_of));
  Times needed;
  for (const Computing& one : computing) {
    const bool trains = one.stretch->trains;
    (trains ? needed.training : needed.workers) +=
        profiles[one.group].length_of(time_of(one.stretch->from), one.alone, one.length, trains);
  }
  return needed;
}

}  // namespace headway::analyzer
