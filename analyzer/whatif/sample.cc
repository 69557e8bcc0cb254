// SPDX-License-Identifier: MIT
#include "analyzer/whatif/sample.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "analyzer/evidence/loader.h"
#include "analyzer/graph/loaders.h"
#include "common/block_bootstrap.h"
#include "trace/subset.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// About this many events of a long recording are replayed: 0.2 s for the analysis, the graph and
/// all fixes.
constexpr std::size_t kSampled = 100'000;
/// Limit with the steps before, if workers are many steps ahead or there are many ranks.
constexpr std::size_t kSampledAtMost = 1'000'000;
/// Steps before the first and after the last one that is judged, at least: find_steps() leaves out those at
/// the ends.
constexpr std::size_t kBefore = 2;
constexpr std::size_t kAfter = 1;

/// Steps in a row, as indexes into OwnSteps::all.
struct Window {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The steps of the training thread for which predictions are made. Steps of other ranks run at the
/// same time, so all steps together are not a sequence.
struct OwnSteps {
  std::vector<Step> all;
  std::vector<std::uint32_t> which;  ///< of Steps::all, by steady step
  std::size_t first = 0;             ///< index in `all` of the first steady step
  std::size_t last = 0;
  std::vector<double> lengths;  ///< of the steady steps
};

ThreadId thread_of_slowest(const Analysis& analysis) {
  const Steps& steps = analysis.steps;
  const DevicePartition* slowest = nullptr;
  for (const DevicePartition& one : analysis.partitions) {
    if (one.steady_steps == 0 || one.steps.empty()) continue;
    if (!slowest || one.per_steady_step.total() > slowest->per_steady_step.total()) slowest = &one;
  }
  return steps.all[slowest ? slowest->steps.front().step : steps.steady.front()].thread;
}

OwnSteps own_steps(const Analysis& analysis) {
  const Steps& steps = analysis.steps;
  const ThreadId thread = thread_of_slowest(analysis);
  OwnSteps own;
  for (std::uint32_t i = 0; i < steps.all.size(); ++i) {
    const Step& step = steps.all[i];
    if (step.thread != thread) continue;
    if (step.steady) {
      if (own.which.empty()) own.first = own.all.size();
      own.last = own.all.size();
      own.which.push_back(i);
      own.lengths.push_back(static_cast<double>(step.cycle().length().ns));
    }
    own.all.push_back(step);
  }
  return own;
}

constexpr double kAlike = 0.01;

/// Of the windows of `count` steps, the one whose mean is closest to `mean`. Windows with longer
/// steps in their second half are preferred, because the work that a long step waits for begins
/// before it.
Window closest_window(const OwnSteps& steps, const std::vector<double>& until, std::size_t count,
                      double mean, double& off) {
  Window best;
  for (std::size_t first = steps.first; first + count <= steps.last + 1; ++first) {
    const double its = until[first + count] - until[first];
    const double half = until[first + count / 2] - until[first];
    const double away = std::abs(its / static_cast<double>(count) - mean) +
                        (half > its / 2 ? kAlike / 2 * mean : 0);
    if (best.count > 0 && away >= off) continue;
    best = {first, count};
    off = away;
  }
  return best;
}

/// A window that is typical of the run. Longer steps can be rare (a loader that restarts with each
/// epoch, a pause); with too few or too many of them, a window is not typical. If they come
/// regularly, the window has whole periods. If no window of `most` steps is typical, a longer one
/// is tried.
Window typical_window(const OwnSteps& steps, std::size_t most) {
  constexpr std::size_t kLonger = 4;
  constexpr std::size_t kTried = 8;
  std::vector<double> until{0};
  for (const Step& step : steps.all)
    until.push_back(until.back() + static_cast<double>(step.cycle().length().ns));
  const std::size_t all = steps.last + 1 - steps.first;
  const std::vector<double>& lengths = steps.lengths;
  const double mean =
      std::accumulate(lengths.begin(), lengths.end(), 0.0) / static_cast<double>(lengths.size());
  const BlockPlan plan = plan_blocks(lengths);
  const std::size_t period = plan.periodic ? plan.length : 1;
  const std::size_t more = std::max<std::size_t>(1, most / kTried / period) * period;
  Window best;
  double least = 0;
  for (std::size_t count = std::min((most + period - 1) / period * period, all);
       best.count == 0 || count <= std::min(kLonger * most, all); count += more) {
    double off = 0;
    const Window one = closest_window(steps, until, count, mean, off);
    if (best.count > 0 && off >= least) continue;
    best = one;
    least = off;
    if (least <= kAlike * mean) break;
  }
  return best;
}

/// Largest number of steps that the host is ahead of the device when it begins a step.
std::size_t run_ahead(const Analysis& analysis) {
  std::size_t most = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    const std::vector<DeviceStep>& steps = partition.steps;
    for (std::size_t i = 0; partition.device.valid() && i < steps.size(); ++i) {
      const TimeNs begin = analysis.steps.all[steps[i].step].host.begin;
      std::size_t behind = 0;
      while (behind < i && steps[i - behind - 1].interval.end > begin) ++behind;
      most = std::max(most, behind);
    }
  }
  return most;
}

/// When each training thread begins the steps `first` to `last`. Ranks are not at the same step at
/// one time. If their step numbers agree, the same steps are taken; else those at about the same
/// time.
std::map<ThreadId, Interval> same_steps(const Steps& steps, const OwnSteps& own, std::size_t first,
                                        std::size_t last) {
  std::map<ThreadId, std::vector<const Step*>> of_thread;
  for (const Step& step : steps.all) of_thread[step.thread].push_back(&step);
  const Interval before = own.all[first - std::min<std::size_t>(first, 1)].cycle();
  const Interval after = own.all[last].cycle();
  const Interval about = {first > 0 ? before.begin + before.length() / 2 : before.begin,
                          after.begin + after.length() / 2};
  const DurationNs near = after.end - before.begin;  // farther away they do not work together
  std::map<ThreadId, Interval> all;
  for (const auto& [thread, its] : of_thread) {
    const bool alike = its.size() > last && its[first]->number == own.all[first].number &&
                       its[last]->number == own.all[last].number &&
                       its[first]->host.begin > before.begin - near &&
                       its[last]->host.begin < after.end + near;
    all[thread] =
        alike ? Interval{its[first]->host.begin, its[last]->host.begin + DurationNs{1}} : about;
  }
  return all;
}

/// Rows of the events that overlap the window, in a table sorted by start.
std::vector<std::uint32_t> overlapping(const std::vector<TimeNs>& starts,
                                       const std::vector<TimeNs>& ends, Interval window) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < starts.size() && starts[i] < window.end; ++i)
    if (ends[i] > window.begin || starts[i] >= window.begin) rows.push_back(i);
  return rows;
}

}  // namespace

std::unique_ptr<Sample> take_sample(const Trace& trace, const Analysis& analysis,
                                    std::size_t replayed_whole) {
  const Steps& steps = analysis.steps;
  if (trace.event_count() <= replayed_whole || steps.steady.empty()) return nullptr;
  const OwnSteps own = own_steps(analysis);
  if (own.which.empty()) return nullptr;
  const std::size_t each = std::max<std::size_t>(1, trace.event_count() / own.all.size());
  const std::size_t most = std::max<std::size_t>(1, kSampled / each);
  const Window judged = typical_window(own, most);
  // Steps before the judged ones are needed for two reasons. A host that runs ahead waits for steps
  // before the sample as long as recorded; a faster device would then wait for the host in the next
  // step. And a worker begins a batch when an earlier step makes room for it; without that step,
  // the batch comes at its recorded time, however fast the steps become.
  const std::size_t ahead =
      std::max(static_cast<std::size_t>(batches_ahead(trace)), declared_depth(trace));
  const std::size_t before =
      std::clamp(std::max(run_ahead(analysis), ahead) + 1, kBefore,
                 kBefore + std::max(most, std::min(ahead, kSampledAtMost / each)));
  const std::size_t first = judged.first - std::min(judged.first, before);
  const std::size_t end = judged.first + judged.count;
  const std::size_t last = std::min(end - 1 + kAfter, own.all.size() - 1);
  AnalysisOptions options;
  options.steps.range = analysis.step_options.range;
  options.steps.unrecorded = analysis.step_options.unrecorded;
  options.steps.skip = 0;
  // The analysis of one rank has only the steps of that rank.
  const bool of_one = trainers_in(trace) > 1 && own.all.size() == steps.all.size();
  const Steps of_ranks =
      of_one ? find_steps(trace, RangeNames(trace), analysis.step_options) : Steps{};
  const Steps& of_all = of_one ? of_ranks : steps;
  options.steps.judged = same_steps(of_all, own, judged.first, end - 1);
  Interval window = {own.all[first].host.begin, own.all[last].host.end};
  TimeNs last_begin = own.all[last].host.begin;
  for (const auto& [thread, its] : same_steps(of_all, own, first, last)) {
    window.begin = std::min(window.begin, its.begin);
    last_begin = std::max(last_begin, its.end);
  }
  window.end = std::max(window.end, last_begin);
  for (const DevicePartition& partition : analysis.partitions) {
    for (const DeviceStep& step : partition.steps) {
      if (steps.all[step.step].host.begin <= last_begin)
        window.end = std::max(window.end, step.interval.end);
    }
  }
  KeptRows kept;
  kept.ranges = overlapping(trace.ranges.start, trace.ranges.end, window);
  kept.calls = overlapping(trace.calls.start, trace.calls.end, window);
  kept.device_ops = overlapping(trace.device_ops.start, trace.device_ops.end, window);
  kept.io = overlapping(trace.io.start, trace.io.end, window);
  auto sample = std::make_unique<Sample>();
  sample->trace = take_rows(trace, kept);
  for (const Overhead& overhead : trace.overheads)
    if (!intersect(overhead.interval, window).empty()) sample->trace.overheads.push_back(overhead);
  sample->analysis = analyze(sample->trace, options);
  sample->analysis.job = analysis.job;
  const std::vector<double> scheduled =
      scheduled_times(RangeNames(trace), steps, analysis.partitions);
  sample->run.trace = &trace;
  sample->run.warm_from = steps.warm_from();
  sample->run.steps = own.lengths;
  for (const std::uint32_t step : own.which) sample->run.scheduled.push_back(scheduled[step]);
  return sample;
}

}  // namespace headway::analyzer
