// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/runs.h"
#include "cli/tune/trainer_switches.h"

namespace headway::tune {

struct Options {
  double budget_s = 300;  ///< 0: any time
  int max_runs = 0;       ///< runs and recordings; 0: any number
  int repeat = 3;         ///< runs on each side of a comparison
  /// True: searches arguments of any program over listed values (vary.h). Every run is recorded, no setting runs twice for a
  /// comparison, and the gain of values without a prediction is learnt from the runs (grid.h). False: searches the switches
  /// of headway-train.
  bool grid = false;
  std::vector<std::string> only;   ///< switches to vary; empty: all tunable ones
  std::vector<std::string> allow;  ///< switches that may vary although they change the arithmetic
};

enum class Decision : std::uint8_t {
  kKept,
  kNoGain,  ///< its interval holds 0, or it gains less than the noise
  kSlower,
  kFailed,  ///< the trainer ended with an error
};
std::string_view decision_id(Decision decision);  ///< "kept", "no-gain", …: stable

/// One comparison: all changes kept so far, without and with one more.
struct Trial {
  int round = 0;  ///< from 1: of the search; on a grid, the number of the run
  Change change;
  Change from;      ///< the values that `change` replaces
  std::string fix;  ///< its prediction; on a grid several, joined by " + "; empty: no prediction
  std::optional<Forecast> forecast;
  std::optional<double> at_most;  ///< without a forecast: upper bound of its gain
  /// On a grid: the gain expected from all runs and predictions so far, not only its own forecast.
  struct Expected {
    double share = 0;
    Bounds interval;  ///< 95 %
  };
  std::optional<Expected> expected;
  bool is_repeat = false;    ///< on a grid: a second run, because the first left its gain open
  bool is_explored = false;  ///< on a grid: it also changes a value without a prediction
  std::optional<Gain> measured;
  int pairs = 0;  ///< runs on each side
  Decision decision = Decision::kNoGain;
  std::string why;
};

/// A fix or a switch that was not tried, with the reason in the last round.
struct Untried {
  std::string fix;       ///< empty: a switch without a prediction
  std::string switches;  ///< as options
  std::optional<Forecast> forecast;
  std::string why;
};

/// A setting of a grid that was run.
struct Measured {
  Change setting;         ///< what differs from the start
  std::vector<int> runs;  ///< their numbers, from 1
  double step_s = 0;
  double half_width = 0;  ///< of the 95 % interval of `step_s`, as a share of it
  std::optional<double> samples_per_s;
  std::string held_back_by;
  std::string failed;  ///< why the run has no result; empty: it has one
};

enum class Stopped : std::uint8_t {
  kDone,     ///< nothing was left to try
  kBudget,   ///< the time was used
  kSignal,   ///< Ctrl-C
  kFailure,  ///< a setting that ran before failed
};
std::string_view stopped_id(Stopped stopped);

struct Result {
  double base_step_s = 0;
  double noise = 0;    ///< smallest gain that a comparison can detect, as a share of the step
  double run_s = 0;    ///< duration of the base run, start and end included
  std::string cannot;  ///< why there are no predictions; empty: there are
  std::vector<Trial> trials;
  std::vector<Measured> settings;  ///< grid only, by first run; the first is the start
  std::vector<Untried> untried;
  Change kept;
  Gain total;
  double best_step_s = 0;
  int runs = 0;
  int recordings = 0;
  double used_s = 0;
  Stopped stopped = Stopped::kDone;
  int signal = 0;           ///< number of the signal that stopped the search
  std::string stopped_why;  ///< message of the failure
  /// Median of |predicted / measured - 1| over the steps of tried predictions; none tried: nothing.
  std::optional<double> prediction_error;
};

/// Throws Error(kUsage), which lists the legal switches, when an option names an unknown or untunable switch.
void check_options(const Options& options, const TrainerSwitches& switches);

/// Searches for the switch values with the shortest step. Each round records, predicts all gains, runs the change with the
/// largest one and keeps it if the measured gain exceeds the noise. Rounds predict anew because gains do not add. Then it
/// tries switches without a prediction. Throws Error when the base run fails or the budget is too short for one comparison.
/// A later signal or failure ends the search with the result so far.
Result search(const TrainerSwitches& switches, const Options& options, Runs& runs);

}  // namespace headway::tune
