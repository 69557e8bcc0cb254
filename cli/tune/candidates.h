// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/tune/search.h"

namespace headway::tune {

/// A change that a fix predicts to gain.
struct Candidate {
  Forecast forecast;
  Change change;  ///< without what is so already
};

/// What to try of the predictions, by predicted gain, and why the rest is left.
struct Candidates {
  std::vector<Candidate> to_try;
  std::vector<Untried> untried;
};

/// `kept` is in effect beside the values of the command line.
Candidates choose_candidates(const Forecasts& forecasts, const TrainerSwitches& switches,
                             const Change& kept, const Options& options, double noise);

/// The switches to try without a prediction, in the trainer's order.
struct Unpredicted {
  struct One {
    const TrainerSwitch* of = nullptr;
    std::optional<double> at_most;  ///< what a ceiling says that it can gain
  };
  std::vector<One> to_try;
  std::vector<Untried> untried;  ///< a ceiling says that they gain nothing
};
Unpredicted choose_unpredicted(const Forecasts& forecasts, const TrainerSwitches& switches,
                               const Options& options, double noise);

/// The value in effect.
std::string value_now(const TrainerSwitches& switches, const Change& kept, const std::string& name);

}  // namespace headway::tune
