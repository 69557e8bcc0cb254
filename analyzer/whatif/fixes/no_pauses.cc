// SPDX-License-Identifier: MIT
// The host does not stop between its steps: what no range names takes there what it usually takes, or nothing where
// each step has it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/evidence/host_pauses.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// What a training thread does before one of its steps, and no range names.
struct Between {
  std::vector<Constraint> cuts;
  DurationNs time;
};

/// Between the steps of one thread, by step; the first has none.
struct OfThread {
  std::vector<TimeNs> begins;
  std::vector<double> lengths;
  std::vector<Between> before;
};

bool is_unnamed(const Predictor& predictor, const Part& part) {
  if (part.kind != Part::Kind::kHost || part.time_class != TimeClass::kBetweenSteps) return false;
  if (!part.name.valid()) return true;
  for (const BetweenCauseInfo& info : between_causes())
    if (info.cause != BetweenCause::kOther &&
        says_between(predictor.trace(), part.name, info.cause))
      return false;
  return true;
}

/// Every rank of a file has its own.
std::map<trace::ThreadId, OfThread> by_thread(const Predictor& predictor) {
  std::map<trace::ThreadId, OfThread> threads;
  for (const Step& step : predictor.analysis().steps.all) {
    OfThread& its = threads[step.thread];
    its.begins.push_back(step.host.begin);
    its.lengths.push_back(static_cast<double>(step.cycle().length().ns));
  }
  for (auto& [thread, its] : threads) its.before.resize(its.begins.size());
  for_each_host_time(predictor, [&](trace::ThreadId thread, Interval where, const Constraint& one) {
    const auto found = threads.find(thread);
    if (found == threads.end() || one.lag.ns <= 0 ||
        !is_unnamed(predictor, predictor.parts()[one.part.value]))
      return;
    OfThread& its = found->second;
    const auto next = std::ranges::lower_bound(its.begins, where.end);
    if (next == its.begins.end() || next == its.begins.begin()) return;
    Between& before = its.before[static_cast<std::size_t>(next - its.begins.begin())];
    before.cuts.push_back(one);
    before.time += one.lag;
  });
  return threads;
}

/// Shortens the pauses of a thread to what is usual there; all of what lies between, `each`. How many.
std::size_t shorten(const OfThread& of, bool each, Editor& editor) {
  std::vector<double> times;
  for (std::size_t i = 1; i < of.before.size(); ++i)
    times.push_back(static_cast<double>(of.before[i].time.ns));
  if (times.empty()) return 0;
  const double usual = each ? 0 : median(times);
  const double limit =
      each ? 0 : pause_limit(times, {static_cast<std::int64_t>(median(of.lengths))});
  std::size_t pauses = 0;
  for (std::size_t i = 1; i < of.before.size(); ++i) {
    if (times[i - 1] <= limit) continue;
    ++pauses;
    for (const Constraint& cut : of.before[i].cuts)
      editor.set_lag(cut.id,
                     {std::llround(static_cast<double>(cut.lag.ns) * usual / times[i - 1])});
  }
  return pauses;
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  if (context.steps.all.empty()) return not_here("no steps were found");
  const HostPauses pauses_seen = find_host_pauses(context);
  if (!is_worth_a_finding(context, pauses_seen))
    return not_here("the host does not stop between steps");
  const bool each = has_pause_each_step(context, pauses_seen);
  Editor editor(predictor);
  std::size_t pauses = 0;
  for (const auto& [thread, its] : by_thread(predictor)) pauses += shorten(its, each, editor);
  if (pauses == 0) return not_here("what keeps the host between steps is not on a training thread");
  Proposal proposal{true,
                    each ? "what no range names between steps takes no time"
                         : fmt::format("what no range names takes in {} pauses between steps as "
                                       "long as between other steps",
                                       pauses),
                    editor.take()};
  proposal.is_ceiling = !each;
  return proposal;
}

}  // namespace

const Fix kNoPauses{
    "no-pauses",
    "Keep the host from stopping between steps",
    "host-pauses",
    FixKind::kCeiling,
    0.05,
    "",
    "On every rank, what a training thread does between two steps and no range names takes no more "
    "than its median; nothing, where each step has it.",
    "what the program does there, and whether it needs it",
    propose};

}  // namespace headway::analyzer
