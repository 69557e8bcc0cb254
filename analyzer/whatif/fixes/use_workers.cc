// SPDX-License-Identifier: MIT
// Workers make the batches that the training thread makes itself. The thread then only takes them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Without the number of processors: not more workers than this, as one GPU's share of a node has.
constexpr std::int64_t kMostWorkers = 16;

/// What a batch from a worker costs the thread that takes it: a wake-up, a message, mapping its memory. PyTorch,
/// measured with batches that were ready; more on a busy machine.
constexpr DurationNs kHandOver{300'000};

/// Processors' time that the recorded processes use in a step: workers move it, and take none away. A step
/// cannot be shorter than all processors need for it.
DurationNs least_of_processors(const RuleContext& context, DurationNs step) {
  double busy = 0;  // processors
  for (const CounterSeries& series : context.trace.counters) {
    if (series.name == counters::kProcessCpu)
      busy += counters::summarise(series, counters::steady_window(context)).mean / 100;
  }
  const std::int64_t processors = processor_count(context.trace);
  if (processors <= 0) return {};
  // Of a job, the trace may be one rank: the others of its machine compute alike.
  std::set<ProcessId> training;
  for (const Step& step : context.steps.all)
    training.insert(context.trace.threads[step.thread.value].process);
  double ranks = 0;
  const std::string_view text = context.trace.meta_value(meta::kLocalWorldSize);
  std::from_chars(text.data(), text.data() + text.size(), ranks);
  busy *= std::max(1.0, ranks / static_cast<double>(std::max<std::size_t>(1, training.size())));
  const double share = std::min(1.0, busy / static_cast<double>(processors));
  return {std::llround(share * static_cast<double>(step.ns))};
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  if (!loader_work(context).workers.empty()) return not_here("workers make batches already");
  const std::vector<bool> trains = training_threads(context);
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  const Interval window{predictor.recorded(steps.front()).begin,
                        predictor.recorded(steps.back()).end};
  Editor editor(predictor);
  std::vector<DurationNs> work_of(trains.size());  // threads train side by side
  std::vector<Constraint> made;
  for_each_host_time(predictor, [&](ThreadId thread, Interval where, const Constraint& constraint) {
    const Part& part = predictor.parts()[constraint.part.value];
    if (!trains[thread.value] || part.kind != Part::Kind::kHost ||
        info(part.time_class).group != TimeGroup::kInput)
      return;
    made.push_back(constraint);
    if (window.contains(where.begin)) work_of[thread.value] += constraint.lag;
  });
  const auto count = static_cast<std::int64_t>(steps.size());
  const DurationNs work = std::ranges::max(work_of) / count;
  if (work.ns <= 0) return not_here("the training thread makes no batches itself");
  const double stays =
      context.program.uses(Framework::kPyTorch) ? std::min(1.0, ratio(kHandOver, work)) : 0;
  for (const Constraint& constraint : made)
    editor.set_lag(constraint.id, {std::llround(stays * static_cast<double>(constraint.lag.ns))});
  Proposal proposal;
  proposal.applies = true;
  proposal.scenario = editor.take();
  const DurationNs rest = predictor.predict(proposal.scenario).step;
  const std::int64_t fitting = workers_that_fit(context);
  const std::int64_t workers =
      std::clamp<std::int64_t>(workers_needed(work, rest), 1, fitting > 0 ? fitting : kMostWorkers);
  proposal.scenario.at_least =
      std::max(work / workers, least_of_processors(context, predictor.baseline().recorded));
  proposal.text = fmt::format("{} {} the batches beside the step", workers,
                              workers == 1 ? "worker makes" : "workers make");
  proposal.setting = fmt::format("--workers {}", workers);
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
                      "batch divided by the workers, and than what the processors compute in it. "
                      "Taking a batch from a worker costs 0.3 ms in PyTorch.",
                      "what handing a batch over costs where other frameworks than PyTorch do, and "
                      "whether storage and memory serve several workers",
                      propose};

}  // namespace headway::analyzer
