// SPDX-License-Identifier: MIT
#include "analyzer/replay/predictor.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "analyzer/evidence/hand_over.h"
#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/replay/replayer.h"
#include "common/block_bootstrap.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

/// 95 % interval of the median, between order statistics. Each block of neighbours counts as one value.
Bounds median_interval(std::span<const double> values, const BlockPlan& plan) {
  constexpr double kQuantile = 1.96;
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double reach = kQuantile / 2 / std::sqrt(std::max(1.0, plan.blocks(values.size())));
  return {percentile_sorted(sorted, std::max(0.0, 0.5 - reach)),
          percentile_sorted(sorted, std::min(1.0, 0.5 + reach))};
}

/// True when nearly all of the gain is in one step, which may be chance. What happens twice is a property of the program.
bool happens_once(std::span<const double> gains) {
  double sum = 0;
  double squares = 0;
  for (const double gain : gains) {
    sum += gain;
    squares += gain * gain;
  }
  return sum * sum < 1.5 * squares;
}

/// The interval may be lopsided: what a formula cannot know may lie on one side of its result.
double expected(const Prediction& one) {
  return (one.gain_ns.low + 2 * static_cast<double>(one.gain.ns) + one.gain_ns.high) / 4;
}

DurationNs rounded(double ns) {
  return {static_cast<std::int64_t>(std::llround(ns))};
}

}  // namespace

Predictor::Predictor(const trace::Trace& trace, const Analysis& analysis, MachineFacts machine,
                     RunLengths run)
    : trace_(trace),
      analysis_(analysis),
      whole_(run.trace ? run.trace : &trace),
      warm_from_(run.trace ? run.warm_from : analysis.steps.warm_from()),
      machine_(std::move(machine)),
      kernels_(trace),
      names_(trace),
      facts_(trace, names_, analysis.attribution, analysis.steps),
      graph_(trace, machine_, ready_hand_over(trace, analysis.program)),
      parts_(facts_),
      program_(graph_, parts_),
      processors_(program_, parts_.all(), analysis),
      marked_(mark_steps(program_, analysis.steps, analysis.partitions)) {
  if (!marked_.missing.empty()) return;
  const trace::DeviceId device = analysis.partitions[marked_.partition].device;
  on_threads_ = !device.valid() || trace.devices[device.value].type == trace::DeviceType::kHost;
  for (const MarkedStep& step : marked_.steps)
    recorded_.push_back(static_cast<double>(recorded(step).length().ns));
  const std::vector<double> scheduled =
      scheduled_times(names_, analysis.steps, analysis.partitions);
  for (const MarkedStep& step : marked_.steps)
    scheduled_.push_back(step.step < scheduled.size() ? scheduled[step.step] : 0);
  if (run.steps.empty()) run = {recorded_, scheduled_};
  take_away_recording(run);
  caches_ = ColdCaches(program_, parts_.all(), analysis, marked_);
  Replayer replayer(program_);
  replayed_.lengths = step_lengths(replayer.run({}), {});
  const double most = likely_most_of_host(trace);
  if (most > 0 && !on_threads_ && analysis.step_options.unrecorded.ns == 0) {
    lighter_.factor = faster_host(parts_.all(), most);
    lightly_recorded_.lengths = step_lengths(replayer.run(lighter_), lighter_);
    lightly_recorded_.scale =
        mean(replayed_.lengths) / std::max(1.0, mean(lightly_recorded_.lengths));
  }
  baseline_.steps = static_cast<std::int64_t>(marked_.steps.size());
  baseline_.recorded = rounded(mean(recorded_));
  baseline_.median = rounded(median(recorded_));
  baseline_.replayed = rounded(mean(replayed_.lengths));
  blocks_ = plan_blocks(run.steps);
  const Bounds of_run = bootstrap_mean(run.steps, run.scheduled, blocks_);
  run_to_run_ = (of_run.high - of_run.low) / 2;
  if (on_threads_) {
    std::vector<double> usual = run.steps;
    const double limit = outlier_limit(usual);
    for (double& length : usual) length = std::min(length, limit);
    const Bounds of_usual = bootstrap_mean(usual, blocks_);
    usual_run_to_run_ = (of_usual.high - of_usual.low) / 2;
    const Bounds of_median = median_interval(run.steps, blocks_);
    median_run_to_run_ = (of_median.high - of_median.low) / 2;
  }
  baseline_.residual =
      ratio(DurationNs{std::abs((baseline_.replayed - baseline_.recorded).ns)}, baseline_.recorded);
  baseline_.late =
      find_unexplained(program_, marked_.steps.front().begin.slot, marked_.steps.back().end.slot);
  for (Unexplained& one : baseline_.late) one.time = one.time / baseline_.steps;
  std::vector<DurationNs> path = path_of_parts();
  for (std::size_t part = 0; part < path.size(); ++part)
    baseline_.path[parts_.all()[part].time_class] += path[part];
}

void Predictor::take_away_recording(RunLengths& run) {
  const auto unrecorded = static_cast<double>(analysis_.step_options.unrecorded.ns);
  const double whole = mean(run.steps);
  if (unrecorded <= 0 || unrecorded >= whole) return;
  Replayer replayer(program_);
  const auto lengths_with = [&](std::vector<double> factor) {
    Scenario scenario;
    scenario.factor = std::move(factor);
    return step_lengths(replayer.run(scenario), scenario);
  };
  const std::vector<double> before = lengths_with({});
  const double wanted = mean(before) * unrecorded / whole;
  baseline_.cost = find_recording_cost(
      parts_.all(), wanted,
      [&](const std::vector<double>& factor) { return mean(lengths_with(factor)); });
  if (baseline_.cost.of_step.ns <= 0) return;
  program_.scale(baseline_.cost.factor);
  const std::vector<double> after = step_lengths(replayer.run({}), {});
  for (std::size_t i = 0; i < recorded_.size(); ++i)
    recorded_[i] = std::max(0.0, recorded_[i] - before[i] + after[i]);
  const double by = mean(after) / mean(before);
  for (double& length : run.steps) length *= by;
}

Interval Predictor::recorded(const MarkedStep& step) const {
  return {program_.recorded(step.begin.slot) + step.begin.after,
          program_.recorded(step.end.slot) + step.end.after};
}

DurationNs Predictor::replayed(std::size_t step) const {
  return rounded(replayed_.lengths[step]);
}

std::vector<double> Predictor::step_lengths(const std::vector<std::int64_t>& times,
                                            const Scenario& scenario, double cold) const {
  std::vector<double> lengths;
  lengths.reserve(marked_.steps.size());
  for (const MarkedStep& step : marked_.steps) {
    lengths.push_back(static_cast<double>(time_of(step.end, times) - time_of(step.begin, times)));
  }
  double of_mean = mean(lengths);
  double more = 0;
  if (cold > 0) more = caches_.change(scenario, of_mean, mean(replayed_.lengths), cold);
  of_mean += more;
  // A resource limits steps on average: batches made ahead let a single step be shorter.
  more += std::max(0.0, static_cast<double>(scenario.at_least.ns) - of_mean);
  for (double& length : lengths) length = (length + more) / scenario.work;
  return lengths;
}

double Predictor::beyond_scatter(std::span<const double> gains, double less,
                                 bool on_schedule) const {
  const double gain = mean(gains);
  if (on_schedule) return gain - less;
  const double of_mean = gain - std::hypot(less, std::numbers::sqrt2 * usual_run_to_run_);
  // More than one step in ten may be long. The gain of the typical step may still be clear.
  const double typical = median(gains);
  const double of_median = typical - std::hypot(typical - median_interval(gains, blocks_).low,
                                                std::numbers::sqrt2 * median_run_to_run_);
  return std::max(of_mean, of_median);
}

double Predictor::noise() const {
  return std::numbers::sqrt2 * run_to_run_ /
         static_cast<double>(std::max<std::int64_t>(1, baseline_.recorded.ns));
}

Prediction Predictor::predict_step(Replayer& replayer, const Scenario& scenario, double model_error,
                                   bool basis, double cold) const {
  return predict_beside(replayed_, replayer, scenario, model_error, basis, cold);
}

Prediction Predictor::predict_unrecorded(Replayer& replayer, const Scenario& scenario,
                                         double model_error) const {
  return predict_beside(lightly_recorded_, replayer, scenario.with(lighter_), model_error, false,
                        0);
}

Prediction Predictor::predict_beside(const Base& base, Replayer& replayer, const Scenario& scenario,
                                     double model_error, bool basis, double cold) const {
  Prediction result;
  const std::optional<Scenario> shared = processors_.settled(replayer, scenario);
  const Scenario& replayed = shared ? *shared : scenario;
  std::vector<double> lengths = step_lengths(replayer.run(replayed), replayed, cold);
  if (basis) result.basis = basis_of(replayer, replayed);
  std::vector<double> gains(lengths.size());
  for (std::size_t i = 0; i < gains.size(); ++i)
    gains[i] = base.scale * (base.lengths[i] - lengths[i]);
  // Where the replay is longer than what was recorded, a scenario could seem to gain more than the
  // step.
  const double gain = std::min(mean(gains), static_cast<double>(baseline_.recorded.ns));
  result.gain = rounded(gain);
  result.step = std::max(DurationNs{0}, baseline_.recorded - result.gain);
  for (std::size_t i = 0; i < gains.size(); ++i) lengths[i] = recorded_[i] - gains[i];
  result.median = std::max(DurationNs{0}, rounded(median(lengths)));
  std::vector<double> on_schedule(gains.size());
  for (std::size_t i = 0; i < gains.size(); ++i)
    on_schedule[i] = std::clamp(gains[i], 0.0, scheduled_[i]);
  result.gain_ns = bootstrap_mean(gains, on_schedule, blocks_);
  const double own_doubt = std::fabs(gain) * (model_error + baseline_.residual) +
                           kResolution * static_cast<double>(baseline_.recorded.ns);
  const double doubt = own_doubt + (on_threads_ ? kDoubtOfThreads * baseline_.recorded.ns : 0.0);
  // The recorded run and the one with the fix are two samples of what such a run takes.
  const double noise = std::numbers::sqrt2 * run_to_run_;
  const double less = std::max(0.0, gain - result.gain_ns.low);
  result.gain_ns.low = gain - std::hypot(less, noise) - doubt;
  if (on_threads_)
    result.beyond_scatter_ns =
        beyond_scatter(gains, happens_once(gains) ? less : 0, scenario.on_schedule) - own_doubt;
  result.gain_ns.high = gain + std::hypot(std::max(0.0, result.gain_ns.high - gain), noise);
  // No step is negative.
  result.gain_ns.high =
      std::min(result.gain_ns.high + doubt, static_cast<double>(baseline_.recorded.ns));
  result.expected_ns = expected(result);
  return result;
}

namespace {

bool has_formulas(const Scenario& scenario) {
  return std::ranges::any_of(scenario.edits, &Edit::modelled) ||
         std::ranges::any_of(scenario.factor, [](double factor) { return factor != 1; });
}

/// True when the scenario only changes lengths of what stays. Which tasks a fix removes is a separate doubt.
bool has_formulas_alone(const Scenario& scenario) {
  return scenario.work == 1 && has_formulas(scenario) &&
         std::ranges::all_of(scenario.edits, [](const Edit& edit) {
           return edit.modelled && edit.lag != Edit::kRemoved;
         });
}

}  // namespace

Scenario Predictor::with_other_formulas(const Scenario& scenario, double by) const {
  Scenario other = scenario;
  for (Edit& edit : other.edits) {
    if (!edit.modelled || edit.lag == Edit::kRemoved) continue;
    const auto recorded = static_cast<double>(program_.constraint(edit.constraint).lag.ns);
    edit.lag =
        std::llround(std::max(0.0, recorded + by * (static_cast<double>(edit.lag) - recorded)));
  }
  for (double& factor : other.factor) factor = std::max(0.0, 1 + by * (factor - 1));
  return other;
}

std::vector<Scenario> Predictor::with_other_gaps(const Scenario& scenario) const {
  // Gaps between kernels in recordings: 0.75 to 1 µs (V100), 1 to 1.4 (H100), 1 to 2 (A100).
  constexpr double kLeastNs = 750;
  constexpr double kMostNs = 2'000;
  double assumed = 0;
  for (const DeviceDelays& delays : graph_.calibration().devices) {
    const FactOrigin origin = delays.stream.origin;
    if (origin != FactOrigin::kTable && origin != FactOrigin::kDefault) continue;
    assumed = std::max(assumed, static_cast<double>(delays.stream.p50.ns));
  }
  std::vector<Scenario> all;
  for (std::size_t part = 0; assumed > 0 && part < parts_.all().size(); ++part) {
    const Part& one = parts_.all()[part];
    if (one.kind != Part::Kind::kDelay || one.time_class != TimeClass::kFrontendGap) continue;
    for (const double ns : {kLeastNs, kMostNs})
      all.emplace_back(scenario).scale(PartId::from(part), ns / assumed);
  }
  return all;
}

Prediction Predictor::predict(const Scenario& scenario, double model_error,
                              std::span<const Scenario> otherwise) const {
  Replayer replayer(program_);
  // A formula that is slightly off may matter much, or not at all where other work takes as long.
  const bool by_formulas = model_error > 0 && has_formulas(scenario);
  const bool alone = by_formulas && has_formulas_alone(scenario);
  Prediction result = predict_step(replayer, scenario, alone ? 0 : model_error, true);
  auto include = [&](const Prediction& other) {
    result.gain_ns.low = std::min(result.gain_ns.low, other.gain_ns.low);
    result.gain_ns.high = std::max(result.gain_ns.high, other.gain_ns.high);
    result.beyond_scatter_ns = std::min(result.beyond_scatter_ns, other.beyond_scatter_ns);
  };
  for (const Scenario& other : otherwise) include(predict_step(replayer, other, 0));
  if (caches_.known())
    for (const double cold : {0.0, ColdCaches::kMost})
      include(predict_step(replayer, scenario, 0, false, cold));
  // A scenario without a gain hardly changes what kernels wait for.
  constexpr double kMatters = 0.01;
  const double gain = std::fabs(static_cast<double>(result.gain.ns));
  if (gain >= kMatters * static_cast<double>(baseline_.recorded.ns))
    for (const Scenario& other : with_other_gaps(scenario))
      include(predict_step(replayer, other, 0));
  if (by_formulas) {
    for (const double by : {1 - model_error, 1 + model_error})
      include(predict_step(replayer, with_other_formulas(scenario, by), 0));
  }
  result.expected_ns = expected(result);
  if (!lighter_.factor.empty())
    include(predict_unrecorded(replayer, scenario, alone ? 0 : model_error));
  return result;
}

std::array<double, static_cast<std::size_t>(Basis::kCount_)> Predictor::basis_of(
    const Replayer& replayer, const Scenario& scenario) const {
  std::array<double, static_cast<std::size_t>(Basis::kCount_)> basis{};
  double total = 0;
  for (const Replayer::Link& link :
       replayer.chain(scenario, marked_.steps.front().begin.slot, marked_.steps.back().end.slot)) {
    const auto edit =
        std::ranges::lower_bound(scenario.edits, link.constraint.id, {}, &Edit::constraint);
    const bool edited = edit != scenario.edits.end() && edit->constraint == link.constraint.id;
    const Basis one = edited && edit->modelled ? Basis::kModelled
                      : parts_.all()[link.constraint.part.value].kind == Part::Kind::kDelay
                          ? Basis::kCalibrated
                          : Basis::kMeasured;
    basis[static_cast<std::size_t>(one)] += static_cast<double>(link.time.ns);
    total += static_cast<double>(link.time.ns);
  }
  for (double& share : basis) share = total > 0 ? share / total : 0;
  return basis;
}

std::vector<Prediction> Predictor::predict(std::span<const Scenario> scenarios) const {
  std::vector<Prediction> results(scenarios.size());
  run_parallel(scenarios.size(), [&](std::size_t i) {
    Replayer replayer(program_);
    results[i] = predict_step(replayer, scenarios[i], 0);
  });
  return results;
}

std::vector<DurationNs> Predictor::path_of_parts() const {
  std::vector<DurationNs> time(parts_.all().size());
  Replayer replayer(program_);
  replayer.run({});
  for (const Replayer::Link& link :
       replayer.chain({}, marked_.steps.front().begin.slot, marked_.steps.back().end.slot))
    time[link.constraint.part.value] += link.time;
  for (DurationNs& one : time) one = one / std::max<std::int64_t>(1, baseline_.steps);
  return time;
}

}  // namespace headway::analyzer
