// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/tune/search.h"

namespace headway::tune {

/// A change for which a fix predicts a gain.
struct Candidate {
  Forecast forecast;
  Change change;  ///< without the switches that have that value already
};

/// The predictions to try, largest predicted gain first, and those left out, with the reason.
struct Candidates {
  std::vector<Candidate> to_try;
  std::vector<Untried> untried;
};

/// `kept`: changes that are in effect on top of the command line.
Candidates choose_candidates(const Forecasts& forecasts, const TrainerSwitches& switches,
                             const Change& kept, const Options& options, double noise);

/// The switches to try without a prediction, in the trainer's order.
struct Unpredicted {
  struct One {
    const TrainerSwitch* of = nullptr;
    std::optional<double> at_most;  ///< upper bound of its gain, from a ceiling
  };
  std::vector<One> to_try;
  std::vector<Untried> untried;  ///< their ceiling says that they gain nothing
};
Unpredicted choose_unpredicted(const Forecasts& forecasts, const TrainerSwitches& switches,
                               const Options& options, double noise);

/// The value of a switch that is in effect.
std::string value_now(const TrainerSwitches& switches, const Change& kept, const std::string& name);

}  // namespace headway::tune
