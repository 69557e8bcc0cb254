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
  int repeat = 3;         ///< runs a side of a comparison
  /// The switches are arguments of any program with their listed values (vary.h). Every run is a recording, no setting is
  /// run again for a comparison, and what no prediction is about is learnt from the runs (grid.h). Else they are
  /// headway-train's.
  bool grid = false;
  std::vector<std::string> only;   ///< switches that may change; empty: all that are tunable
  std::vector<std::string> allow;  ///< those that change the arithmetic and may change all the same
};

enum class Decision : std::uint8_t {
  kKept,
  kNoGain,  ///< its interval holds 0, or it gains less than the noise
  kSlower,
  kFailed,  ///< the trainer ended with an error
};
std::string_view decision_id(Decision decision);  ///< "kept", "no-gain", …: stable

/// One comparison: all that was kept so far, without and with one more change.
struct Trial {
  int round = 0;  ///< counts the recordings
  Change change;
  Change from;  ///< the values that it replaces
  std::string
      fix;  ///< that predicted it, on a grid several with " + "; empty: tried without a prediction
  std::optional<Forecast> forecast;
  std::optional<double> at_most;  ///< without a forecast: the most that a ceiling lets it gain
  /// On a grid: what runs and predictions so far let it gain, whatever its own forecast says.
  struct Expected {
    double share = 0;
    Bounds interval;  ///< 95 %
  };
  std::optional<Expected> expected;
  bool is_repeat = false;    ///< on a grid: run again, because it seemed better within its interval
  bool is_explored = false;  ///< on a grid: it also changes a value that nobody has predicted
  std::optional<Gain> measured;
  int pairs = 0;  ///< runs a side
  Decision decision = Decision::kNoGain;
  std::string why;
};

/// A fix or a switch that was not tried, as the last round saw it.
struct Left {
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
  double half_width = 0;  ///< of its 95 % interval, as a share
  std::optional<double> samples_per_s;
  std::string held_back_by;
  std::string failed;  ///< why there is nothing of the above
};

enum class Stopped : std::uint8_t {
  kDone,     ///< nothing was left to try
  kBudget,   ///< the time was used
  kSignal,   ///< Ctrl-C
  kFailure,  ///< what had run before failed now
};
std::string_view stopped_id(Stopped stopped);

struct Result {
  double base_step_s = 0;
  double noise = 0;    ///< share of the step that a comparison cannot tell from nothing
  double run_s = 0;    ///< what the base run took, start and end included
  std::string cannot;  ///< why nothing was predicted; empty when it was
  std::vector<Trial> trials;
  std::vector<Measured>
      settings;  ///< of a grid, in the order in which they were first run, the start first
  std::vector<Left> left;
  Change kept;
  Gain total;
  double best_step_s = 0;
  int runs = 0;
  int recordings = 0;
  double used_s = 0;
  Stopped stopped = Stopped::kDone;
  int signal = 0;           ///< that stopped it
  std::string stopped_why;  ///< of a failure
  /// How far predicted steps were off, median of |predicted / measured - 1|; none was tried: nothing.
  std::optional<double> prediction_error;
};

/// Throws Error(kUsage) when the options name a switch that there is not or that is never changed, with
/// those that there are.
void check_options(const Options& options, const TrainerSwitches& switches);

/// Searches the change of switches that makes steps shortest: predicts, tries what is predicted to gain
/// most, keeps it when it measurably gains, and predicts again, because gains do not add; then tries
/// switches that no fix is about. Throws Error when the base run fails or the budget is too short for
/// one comparison; a signal or a failure afterwards ends the search with what was found.
Result search(const TrainerSwitches& switches, const Options& options, Runs& runs);

}  // namespace headway::tune
