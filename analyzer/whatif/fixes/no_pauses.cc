// SPDX-License-Identifier: MIT
// The host does not pause between steps or in some of them: time that no range names takes its
// usual length there, or none if each step has a pause.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/evidence/host_pauses.h"
#include "analyzer/evidence/support.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Least share of the step that the device must idle in pauses.
constexpr double kLeastOfStep = 0.01;

/// Time of a training thread before one of its steps, or in it, that no range names.
struct Unnamed {
  std::vector<Constraint> cuts;
  DurationNs time;
};

/// The steps of one thread.
struct OfThread {
  std::vector<TimeNs> begins;
  std::vector<double> lengths;
  std::vector<Unnamed> before;  ///< by step; the first has none
  std::vector<Unnamed> inside;
};

/// True for unnamed time as the rule defines it: between steps without a range that shows a cause,
/// and in steps without a range other than those of the step and its phases.
bool is_unnamed(const Predictor& predictor, const HostPauses& pauses, const Part& part) {
  if (part.kind != Part::Kind::kHost) return false;
  if (part.time_class == TimeClass::kHostOther)
    return !part.name.valid() || part.name.value == 0 || pauses.around.contains(part.name);
  if (part.time_class != TimeClass::kBetweenSteps) return false;
  if (!part.name.valid()) return true;
  for (const BetweenCauseInfo& info : between_causes())
    if (info.cause != BetweenCause::kOther &&
        says_between(predictor.trace(), part.name, info.cause))
      return false;
  return true;
}

/// Unnamed time by training thread; each rank of a file has its own.
std::map<trace::ThreadId, OfThread> by_thread(const Predictor& predictor,
                                              const HostPauses& pauses) {
  std::map<trace::ThreadId, OfThread> threads;
  for (const Step& step : predictor.analysis().steps.all) {
    OfThread& its = threads[step.thread];
    its.begins.push_back(step.host.begin);
    its.lengths.push_back(static_cast<double>(step.cycle().length().ns));
  }
  for (auto& [thread, its] : threads) {
    its.before.resize(its.begins.size());
    its.inside.resize(its.begins.size());
  }
  for_each_host_time(predictor, [&](trace::ThreadId thread, Interval where, const Constraint& one) {
    const auto found = threads.find(thread);
    const Part& part = predictor.parts()[one.part.value];
    if (found == threads.end() || one.lag.ns <= 0 || !is_unnamed(predictor, pauses, part)) return;
    OfThread& its = found->second;
    const auto next = std::ranges::lower_bound(its.begins, where.end);
    if (next == its.begins.begin()) return;
    const auto i = static_cast<std::size_t>(next - its.begins.begin());
    const bool between = part.time_class == TimeClass::kBetweenSteps;
    if (between && next == its.begins.end()) return;
    Unnamed& in = between ? its.before[i] : its.inside[i - 1];
    in.cuts.push_back(one);
    in.time += one.lag;
  });
  return threads;
}

/// Shortens pauses to the usual length; to zero if `each` step has one. Returns the number of
/// pauses.
std::size_t shorten(std::span<const Unnamed> of, DurationNs step, bool each, Editor& editor) {
  std::vector<double> times;
  for (const Unnamed& one : of) times.push_back(static_cast<double>(one.time.ns));
  if (times.empty()) return 0;
  const double usual = each ? 0 : median(times);
  const double limit = each ? 0 : pause_limit(times, step);
  std::size_t pauses = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (times[i] <= limit) continue;
    ++pauses;
    for (const Constraint& cut : of[i].cuts)
      editor.set_lag(cut.id, {std::llround(static_cast<double>(cut.lag.ns) * usual / times[i])});
  }
  return pauses;
}

/// Median unnamed time of the host before a step. The host's own figures are used because ranks
/// hide it on the device: a collective runs meanwhile, until the slowest host arrives.
DurationNs usual_before(const std::map<trace::ThreadId, OfThread>& threads) {
  std::vector<double> times;
  for (const auto& [thread, its] : threads)
    for (const Unnamed& one : std::span(its.before).subspan(1))
      times.push_back(static_cast<double>(one.time.ns));
  return {times.empty() ? 0 : static_cast<std::int64_t>(median(times))};
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  if (context.steps.all.empty()) return not_here("no steps were found");
  const HostPauses pauses_seen = find_host_pauses(context);
  const auto threads = by_thread(predictor, pauses_seen);
  const bool on_device = pauses_seen.partition && pauses_seen.partition->device.valid();
  const bool each = has_pause_each_step(context, pauses_seen) ||
                    (on_device && ratio(usual_before(threads), context.step) >= kFindingShare);
  // The device's idle time is not the cost of a pause: work launched ahead hides a part of each
  // pause, and later work is launched late.
  if (!each && ratio(pauses_seen.per_step, context.step) < kLeastOfStep)
    return not_here("the host does not pause between or in steps");
  Editor editor(predictor);
  std::size_t pauses = 0;
  for (const auto& [thread, its] : threads) {
    const DurationNs step{static_cast<std::int64_t>(median(its.lengths))};
    pauses += shorten(std::span(its.before).subspan(1), step, each, editor);
    if (pauses_seen.inside.ns > 0) pauses += shorten(its.inside, step, false, editor);
  }
  // Each step may have a pause, even if the device waits for it only in some steps.
  const bool inside_each = pauses == 0 && pauses_seen.inside.ns > 0;
  for (const auto& [thread, its] : threads)
    if (inside_each) pauses += shorten(its.inside, {}, true, editor);
  if (pauses == 0) return not_here("the pause is not on a training thread");
  Proposal proposal{
      true,
      each ? fmt::format("the host's {} between steps (median), outside all ranges, take no time",
                         format_duration(usual_before(threads)))
      : inside_each
          ? "what the host does in each step, outside all ranges, takes no time"
          : fmt::format("{} pauses outside all ranges take the usual time of other steps", pauses),
      editor.take()};
  proposal.is_ceiling = !each && !inside_each;
  proposal.one_place = true;
  return proposal;
}

}  // namespace

const Fix kNoPauses{"no-pauses",
                    "Remove host pauses",
                    "host-pauses",
                    FixKind::kCeiling,
                    0.05,
                    "",
                    "On every rank, training thread time between steps and outside ranges drops to "
                    "its median, or to zero if every step has it. Time inside steps also drops to "
                    "its median if some steps have far more.",
                    "the reason for the pause, and whether the program needs it",
                    propose};

}  // namespace headway::analyzer
