// SPDX-License-Identifier: MIT
#include "cli/tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/tune/candidates.h"
#include "cli/tune/grid.h"
#include "common/error.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::tune {
namespace {

/// Smaller gains are not worth a switch; on a machine with other activity they are not measurable.
constexpr double kLeastGain = 0.005;
constexpr double kLeastExactGain = 0.001;
/// As in `headway diff`: runs of the same program differ by as much.
constexpr double kLeastGainOfRecordings = 0.01;
/// Base runs that measure the noise before the first comparison: with five, one disturbed run does
/// not decide. They take at most this share of the budget.
constexpr int kNoiseRuns = 5;
constexpr double kNoiseShare = 0.2;
/// A first pair whose change is slower by this many times the noise decides at once.
constexpr double kClearly = 3;
/// A run may take this many times as long as the base run before it is ended for the budget.
constexpr double kGrace = 1.5;
/// A setting that takes this many times as long as the first run, and at least the time below,
/// hangs.
constexpr double kHangs = 10;
constexpr double kHangsAtLeast_s = 60;
/// A setting that seems better, but within its error, is repeated up to this many times.
constexpr int kMostRepeats = 2;

/// Thrown when the remaining budget is too short for the next run.
struct BudgetUsed {};

class Search {
 public:
  Search(const TrainerSwitches& switches, const Options& options, Runs& runs)
      : switches_(switches),
        options_(options),
        runs_(runs),
        exact_(switches.exact()),
        how_(options.grid           ? Typical::kStepCost
             : switches.simulated() ? Typical::kMean
                                    : Typical::kMedian),
        noise_(options.grid ? kLeastGainOfRecordings
               : exact_     ? kLeastExactGain
                            : kLeastGain),
        pairs_(exact_ ? 1 : options.repeat) {
    result_.total = no_gain();
  }

  Result run() {
    try {
      if (options_.grid) {
        search_grid();
      } else {
        measure_base();
        while (improve()) {
        }
      }
    } catch (const BudgetUsed&) {
      result_.stopped = Stopped::kBudget;
    } catch (const RunTooLong&) {
      result_.stopped = Stopped::kBudget;
    } catch (const Interrupted& interrupted) {
      result_.stopped = Stopped::kSignal;
      result_.signal = interrupted.signal;
    } catch (const RunFailed& failed) {
      if (result_.runs == 0) fail_input("{}", failed.what());
      result_.stopped = Stopped::kFailure;
      result_.stopped_why = failed.what();
    }
    finish();
    return std::move(result_);
  }

 private:
  double left_s() {
    return options_.budget_s > 0 || !options_.grid ? options_.budget_s - runs_.elapsed_s()
                                                   : HUGE_VAL;
  }
  void check_runs_left() const {
    if (options_.max_runs > 0 && result_.runs + result_.recordings >= options_.max_runs)
      throw BudgetUsed{};
  }
  /// Runs that one pair of a comparison needs: where runs repeat exactly, one side is known
  /// already.
  int runs_of_pair() const { return exact_ ? 1 : 2; }

  Run measure(const Change& change) {
    const std::string key = words_of(change);
    if (const auto known = known_.find(key); exact_ && known != known_.end()) return known->second;
    check_runs_left();
    const double limit = result_.runs == 0 ? 0 : std::max(0.0, left_s()) + kGrace * result_.run_s;
    Run run = runs_.measure(change, limit);
    ++result_.runs;
    if (exact_) known_[key] = run;
    return run;
  }

  void measure_base() {
    runs_.tell("the base");
    std::vector<double> steps;
    Run run = measure({});
    result_.run_s = run.wall_s;
    steps.push_back(typical(run.steps, how_));
    // One recording and one comparison.
    const double least = (1 + runs_of_pair()) * run.wall_s;
    if (left_s() < least)
      fail_usage(
          "--budget: too short for one comparison. The base run took {}; measuring, recording and "
          "comparing take about {}. Use a larger budget or fewer --steps.",
          seconds(run.wall_s), seconds(run.wall_s + least));
    while (!exact_ && std::ssize(steps) < kNoiseRuns && left_s() >= least + run.wall_s &&
           runs_.elapsed_s() + run.wall_s <= kNoiseShare * options_.budget_s)
      steps.push_back(typical(measure({}).steps, how_));
    noise_.add(steps);
    result_.base_step_s = typical(steps, Typical::kMean);
  }

  static std::string seconds(double s) {
    return format_duration({static_cast<std::int64_t>(s * 1e9)});
  }

  /// One round: predicts from what was kept, then tries until a change is kept. False: none was.
  bool improve() {
    ++round_;
    if (left_s() < result_.run_s) throw BudgetUsed{};
    check_runs_left();
    runs_.tell(fmt::format("recording, round {}", round_));
    const Forecasts forecasts =
        runs_.forecast(result_.kept, std::max(0.0, left_s()) + kGrace * result_.run_s);
    ++result_.recordings;
    if (round_ == 1) result_.cannot = forecasts.missing;
    const double noise = noise_.share(pairs_);
    Candidates candidates = choose_candidates(forecasts, switches_, result_.kept, options_, noise);
    Unpredicted unpredicted = choose_unpredicted(forecasts, switches_, options_, noise);
    result_.untried = std::move(candidates.untried);
    result_.untried.insert(result_.untried.end(), unpredicted.untried.begin(),
                           unpredicted.untried.end());
    return try_predicted(candidates) || try_unpredicted(unpredicted);
  }

  bool try_predicted(const Candidates& candidates) {
    for (std::size_t i = 0; i < candidates.to_try.size(); ++i) {
      const Candidate& candidate = candidates.to_try[i];
      // A change that gained nothing with the same settings kept gains nothing now.
      const std::string key = words_of(candidate.change);
      const auto tried = tried_.find(key);
      if (tried != tried_.end() && tried->second == result_.kept) continue;
      Trial trial;
      trial.fix = candidate.forecast.fix;
      trial.forecast = candidate.forecast;
      try {
        if (compare(trial, candidate.change)) return true;
      } catch (const BudgetUsed&) {
        for (; i < candidates.to_try.size(); ++i) leave(candidates.to_try[i]);
        throw;
      }
      tried_[key] = result_.kept;
    }
    return false;
  }

  void leave(const Candidate& candidate) {
    result_.untried.push_back({candidate.forecast.fix, words_of(candidate.change),
                               candidate.forecast, "the time budget is spent"});
  }

  bool try_unpredicted(const Unpredicted& unpredicted) {
    for (std::size_t i = 0; i < unpredicted.to_try.size(); ++i) {
      const Unpredicted::One& next = unpredicted.to_try[i];
      const TrainerSwitch& one = *next.of;
      if (std::ranges::find(searched_, one.name) != searched_.end()) continue;
      try {
        searched_.push_back(one.name);
        if (one.values.empty() ? climb(next) : try_values(next)) return true;
      } catch (const BudgetUsed&) {
        for (; i < unpredicted.to_try.size(); ++i)
          result_.untried.push_back({"", option_of(unpredicted.to_try[i].of->name), std::nullopt,
                                     "the time budget is spent"});
        throw;
      }
    }
    return false;
  }

  bool try_values(const Unpredicted::One& one) {
    bool kept = false;
    for (const std::string& value : one.of->values) kept |= try_value(one, value);
    return kept;
  }

  /// Doubles the value as long as that gains; if it never does, halves it.
  bool climb(const Unpredicted::One& one) {
    for (const bool up : {true, false}) {
      bool kept = false;
      for (;;) {
        const std::string now = value_now(switches_, result_.kept, one.of->name);
        const std::string next = next_value(*one.of, now, up);
        if (next.empty() || !try_value(one, next)) break;
        kept = true;
      }
      if (kept) return true;
    }
    return false;
  }

  bool try_value(const Unpredicted::One& one, const std::string& value) {
    if (value_now(switches_, result_.kept, one.of->name) == value) return false;
    Trial trial;
    trial.at_most = one.at_most;
    return compare(trial, {{one.of->name, value}});
  }

  /// Runs the kept settings without and with the change in turns (A B B A A B …); true: it is kept.
  bool compare(Trial& trial, const Change& change) {
    if (left_s() < runs_of_pair() * result_.run_s) throw BudgetUsed{};
    trial.round = round_;
    trial.change = change;
    for (const Setting& setting : change)
      trial.from.emplace_back(setting.first, value_now(switches_, result_.kept, setting.first));
    const Change changed = with(result_.kept, change);
    std::vector<Block> before;
    std::vector<Block> after;
    try {
      run_pairs(trial, changed, before, after);
    } catch (const RunFailed& failed) {
      trial.decision = Decision::kFailed;
      trial.why = failed.what();
      result_.trials.push_back(std::move(trial));
      return false;
    } catch (const RunTooLong&) {
      result_.untried.push_back({trial.fix, words_of(change), trial.forecast,
                                 "it was still running when the budget ended"});
      throw;
    }
    decide(trial, before, after);
    const bool kept = trial.decision == Decision::kKept;
    if (kept) {
      result_.kept = changed;
      result_.total = chained(result_.total, *trial.measured);
    }
    result_.trials.push_back(std::move(trial));
    return kept;
  }

  void run_pairs(Trial& trial, const Change& changed, std::vector<Block>& before,
                 std::vector<Block>& after) {
    for (int pair = 0; pair < pairs_; ++pair) {
      if (pair > 0 && left_s() < runs_of_pair() * result_.run_s) break;
      runs_.tell(fmt::format("{}, pair {} of {}", words_of(trial.change), pair + 1, pairs_));
      auto run_before = [&] { before.push_back(measure(result_.kept).steps); };
      auto run_after = [&] { after.push_back(measure(changed).steps); };
      if (pair % 2 == 0) {
        run_before();
        run_after();
      } else {
        run_after();
        run_before();
      }
      const Gain gain = measured_gain(before, after, how_, exact_, seed());
      if (gain.share < -kClearly * noise_.share(1)) break;
    }
    trial.pairs = static_cast<int>(after.size());
    trial.measured = measured_gain(before, after, how_, exact_, seed());
  }

  std::uint64_t seed() const { return 1 + result_.trials.size(); }

  void decide(Trial& trial, const std::vector<Block>& before, const std::vector<Block>& after) {
    for (const auto* blocks : {&before, &after}) {
      std::vector<double> steps;
      for (const Block& block : *blocks) steps.push_back(typical(block, how_));
      if (!exact_) noise_.add(steps);
    }
    decide_by(trial);
  }

  /// For a repeated setting, which must be decided: accepts a gain that is 90 % certain.
  static bool is_likely(double share, const Bounds& interval) {
    constexpr double kOneSided90 = 1.2816;
    constexpr double kTwoSided95 = 1.96;
    return share > (interval.high - interval.low) / 2 * kOneSided90 / kTwoSided95;
  }

  void decide_by(Trial& trial) const {
    const Gain& gain = *trial.measured;
    const double noise = noise_.share(trial.pairs);
    const bool is_above =
        gain.interval.low > 0 || (trial.is_repeat && is_likely(gain.share, gain.interval));
    if (is_above && gain.share >= noise) {
      trial.decision = Decision::kKept;
      trial.why = exact_                   ? "it gains"
                  : gain.interval.low <= 0 ? "it gains in 90 % of cases"
                                           : "the interval is above 0";
    } else if (gain.interval.high < 0 && -gain.share >= noise) {
      trial.decision = Decision::kSlower;
      trial.why = "it is slower";
    } else {
      trial.decision = Decision::kNoGain;
      trial.why = gain.interval.low > 0 ? "less than " + format_percent(noise)
                  : exact_              ? "it changes almost nothing"
                                        : "the interval includes 0";
    }
  }

  /// Runs the start, then always the setting with the largest expected improvement.
  void search_grid() {
    runs_.tell("the start");
    run_setting({});
    result_.base_step_s = result_.best_step_s = result_.settings.front().step_s;
    result_.cannot = missing_;
    try {
      for (;;) {
        if (const auto choice = grid_.next(result_.kept, noise_.share(pairs_))) {
          try_setting(*choice);
        } else if (Measured* doubtful = find_doubtful()) {
          repeat_setting(*doubtful);
        } else {
          break;
        }
      }
    } catch (const BudgetUsed&) {
      leave_untried("the time budget is spent");
      throw;
    } catch (const RunTooLong&) {
      leave_untried("the time budget is spent");
      throw;
    } catch (const Interrupted&) {
      leave_untried("it was interrupted");
      throw;
    }
    leave_untried("");
  }

  /// One run of a setting, which is also a recording.
  void run_once(Measured& measured) {
    check_runs_left();
    if (result_.runs > 0 && left_s() < result_.run_s) throw BudgetUsed{};
    const Run run = runs_.measure(measured.setting, limit_of_setting());
    measured.runs.push_back(++result_.runs);
    if (result_.run_s == 0) result_.run_s = run.wall_s;
    std::vector<Block>& blocks = blocks_[words_of(measured.setting)];
    blocks.push_back(run.steps);
    std::vector<double> all;
    for (const Block& block : blocks) all.insert(all.end(), block.begin(), block.end());
    measured.step_s = typical(all, how_);
    measured.half_width = half_width_of_cost(blocks);
    measured.samples_per_s = run.samples_per_s;
    measured.held_back_by = run.held_back_by;
    if (run.forecasts && !run.forecasts->missing.empty()) missing_ = run.forecasts->missing;
    // Only the first run of a setting adds predictions: further runs predict nearly the same.
    const bool predicts = run.forecasts && measured.runs.size() == 1;
    grid_.add(measured.setting, measured.step_s, measured.half_width,
              predicts ? &*run.forecasts : nullptr);
  }

  void run_setting(const Change& setting) {
    Measured measured;
    measured.setting = setting;
    for (int i = 0; i < options_.repeat; ++i) run_once(measured);
    result_.settings.push_back(std::move(measured));
  }

  /// The setting with the largest gain among those whose gain is not certain; null: none.
  Measured* find_doubtful() {
    Measured* most = nullptr;
    for (Measured& one : result_.settings) {
      const auto repeats = static_cast<int>(one.runs.size()) - options_.repeat;
      if (!one.failed.empty() || one.setting == result_.kept || repeats >= kMostRepeats) continue;
      if (one.step_s > result_.best_step_s * (1 - noise_.share(pairs_))) continue;
      if (!most || one.step_s < most->step_s) most = &one;
    }
    return most;
  }

  void repeat_setting(Measured& measured) {
    Trial trial = trial_of(measured.setting);
    trial.is_repeat = true;
    run_once(measured);
    judge_setting(trial, measured);
    result_.trials.push_back(std::move(trial));
  }

  /// The setting as a change of the best one.
  Trial trial_of(const Change& setting) {
    Trial trial;
    trial.round = result_.runs + 1;
    for (const TrainerSwitch& one : switches_.all) {
      const std::string now = value_now(switches_, result_.kept, one.name);
      const std::string next = value_now(switches_, setting, one.name);
      if (now == next) continue;
      trial.change.emplace_back(one.name, next);
      trial.from.emplace_back(one.name, now);
    }
    runs_.tell(words_of(trial.change));
    return trial;
  }

  bool is_budget_short() { return left_s() + kGrace * result_.run_s < hangs_s(); }
  double hangs_s() const { return std::max(kHangsAtLeast_s, kHangs * result_.run_s); }
  double limit_of_setting() {
    if (result_.runs == 0) return 0;
    return std::min(hangs_s(), std::max(0.0, left_s()) + kGrace * result_.run_s);
  }

  void try_setting(const Choice& choice) {
    Trial trial = trial_of(choice.setting);
    trial.expected = {choice.gain, choice.interval};
    trial.is_explored = choice.is_explored;
    trial.forecast = choice.forecast;
    trial.fix = fmt::format("{}", fmt::join(choice.fixes, " + "));
    const bool budget_ends_it = is_budget_short();
    std::string failure;
    try {
      run_setting(choice.setting);
    } catch (const RunFailed& failed) {
      failure = failed.what();
    } catch (const RunTooLong&) {
      if (budget_ends_it) throw;
      failure = fmt::format("it was still running after {} and was ended", seconds(hangs_s()));
    }
    if (failure.empty()) {
      judge_setting(trial, result_.settings.back());
    } else {
      trial.decision = Decision::kFailed;
      trial.why = failure;
      grid_.failed(choice.setting);
      Measured measured;
      measured.setting = choice.setting;
      measured.runs.push_back(++result_.runs);
      measured.failed = failure;
      result_.settings.push_back(std::move(measured));
    }
    result_.trials.push_back(std::move(trial));
  }

  void judge_setting(Trial& trial, const Measured& measured) {
    const std::vector<Block>& before = blocks_.at(words_of(result_.kept));
    const std::vector<Block>& after = blocks_.at(words_of(measured.setting));
    trial.measured = measured_gain(before, after, how_, exact_, seed());
    trial.pairs = static_cast<int>(after.size());
    decide_by(trial);
    if (trial.decision != Decision::kKept) return;
    result_.kept = measured.setting;
    result_.best_step_s = measured.step_s;
    result_.total = measured_gain(blocks_.at(words_of(Change{})), after, how_, exact_, seed());
  }

  /// Reports the values that no run had.
  void leave_untried(const std::string& why) {
    for (const Choice& choice : grid_.untried()) {
      Untried left;
      if (choice.forecast) left.fix = choice.forecast->fix;
      left.forecast = choice.forecast;
      left.switches = words_of(choice.setting);
      left.why = why.empty()
                     ? fmt::format("expected gain at most {}",
                                   format_percent(std::clamp(choice.interval.high, 0.0, 1.0)))
                     : why;
      result_.untried.push_back(std::move(left));
    }
  }

  void finish() {
    result_.noise = noise_.share(pairs_);
    if (options_.grid) {
      finish_with_error();
      return;
    }
    result_.best_step_s = result_.base_step_s * (1 - result_.total.share);
    finish_with_error();
  }

  void finish_with_error() {
    result_.used_s = runs_.elapsed_s();
    std::vector<double> errors;
    for (const Trial& trial : result_.trials) {
      if (trial.forecast && trial.measured)
        errors.push_back(std::fabs((1 - trial.forecast->gain) / (1 - trial.measured->share) - 1));
    }
    if (!errors.empty()) result_.prediction_error = median(errors);
  }

  const TrainerSwitches& switches_;
  const Options& options_;
  Runs& runs_;
  const bool exact_;
  const Typical how_;
  Noise noise_;
  const int pairs_;
  Grid grid_{switches_};
  std::map<std::string, std::vector<Block>> blocks_;  ///< steps of a grid search, by setting
  std::string missing_;  ///< why the last run without predictions had none
  int round_ = 0;
  std::map<std::string, Run> known_;     ///< runs that would repeat exactly, for reuse
  std::map<std::string, Change> tried_;  ///< predicted changes, and the settings that were kept
                                         ///< when they were tried
  std::vector<std::string> searched_;    ///< switches tried without a prediction
  Result result_;
};

std::string list_of(const TrainerSwitches& switches, auto fits) {
  std::string list;
  for (const TrainerSwitch& one : switches.all)
    if (fits(one)) list += (list.empty() ? "" : ", ") + one.name;
  return list;
}

}  // namespace

std::string_view decision_id(Decision decision) {
  switch (decision) {
    case Decision::kKept:
      return "kept";
    case Decision::kNoGain:
      return "no-gain";
    case Decision::kSlower:
      return "slower";
    case Decision::kFailed:
      return "failed";
  }
  return "";
}

std::string_view stopped_id(Stopped stopped) {
  switch (stopped) {
    case Stopped::kDone:
      return "done";
    case Stopped::kBudget:
      return "budget";
    case Stopped::kSignal:
      return "signal";
    case Stopped::kFailure:
      return "failure";
  }
  return "";
}

void check_options(const Options& options, const TrainerSwitches& switches) {
  const auto tunable = [](const TrainerSwitch& one) { return one.tunable; };
  const auto allowable = [](const TrainerSwitch& one) { return one.when_allowed; };
  for (const std::string& name : options.only) {
    const TrainerSwitch* one = switches.find(name);
    if (!one || !one->tunable)
      fail_usage("--only {}: {}. Tunable switches: {}.", escape_terminal(name),
                 one ? "tune never changes this switch, because it changes the computation or the "
                       "emulated machine"
                     : "unknown switch",
                 list_of(switches, tunable));
    if (one->when_allowed && std::ranges::find(options.allow, name) == options.allow.end())
      fail_usage("--only {}: it changes the arithmetic. Add --allow {}.", name, name);
  }
  for (const std::string& name : options.allow) {
    const TrainerSwitch* one = switches.find(name);
    if (!one || !one->when_allowed)
      fail_usage("--allow {}: not needed. Switches that need it: {}.", escape_terminal(name),
                 list_of(switches, allowable));
  }
}

Result search(const TrainerSwitches& switches, const Options& options, Runs& runs) {
  check_options(options, switches);
  return Search(switches, options, runs).run();
}

}  // namespace headway::tune
