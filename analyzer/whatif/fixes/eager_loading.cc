// SPDX-License-Identifier: MIT
// Device code is loaded and compiled before the steps, so that time is removed from the steps.
#include <fmt/format.h>

#include <map>

#include "analyzer/evidence/loading.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "common/format.h"
#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Intervals in which each thread loads code; under `none` those without a known thread.
std::map<ThreadId, IntervalSet> loading_of_threads(const Trace& trace) {
  const Loading loading = find_loading(trace);
  std::map<ThreadId, std::vector<Interval>> intervals;
  for (std::size_t i = 0; i < loading.intervals.size(); ++i)
    intervals[loading.threads[i]].push_back(loading.intervals[i]);
  std::map<ThreadId, IntervalSet> sets;
  for (auto& [thread, its] : intervals)
    sets.emplace(thread, IntervalSet::from_unsorted(std::move(its)));
  return sets;
}

Proposal propose(const Predictor& predictor) {
  const auto loading = loading_of_threads(predictor.trace());
  if (loading.empty()) return not_here("no device code is loaded or compiled");
  const auto unsaid = loading.find(ThreadId::none());
  Editor editor(predictor);
  DurationNs saved;
  for_each_host_time(predictor, [&](ThreadId thread, Interval when, const Constraint& constraint) {
    DurationNs loads;
    if (const auto its = loading.find(thread); its != loading.end())
      loads = clip(its->second, when).total();
    if (unsaid != loading.end()) loads = std::max(loads, clip(unsaid->second, when).total());
    loads = std::min(loads, constraint.lag);
    if (loads.ns <= 0) return;
    editor.set_lag(constraint.id, constraint.lag - loads);
    saved += loads;
  });
  if (editor.empty()) return not_here("device code loads while threads wait for something else");
  return {
      true,
      fmt::format("{} of loading and compiling moves before the recording", format_duration(saved)),
      editor.take()};
}

}  // namespace

const Fix kEagerLoading{"eager-loading",
                        "Load and compile device code before the steps",
                        "module-load",
                        FixKind::kStructural,
                        0.05,
                        "--module-loading eager",
                        "Calls, compiler ranges and overheads that load or compile device code "
                        "take no time in the steps.",
                        "whether all shapes are known in advance",
                        propose};

}  // namespace headway::analyzer
