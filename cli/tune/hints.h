// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/runs.h"
#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// What a prediction says of another value of one argument.
struct Hint {
  std::size_t knob = 0;   ///< index into TrainerSwitches::all
  std::size_t value = 0;  ///< 0: the start; else one more than the index into its `values`
  double log_change = 0;  ///< of the step cost, natural logarithm: -0.5 is 39 % less
  double sd = 0;          ///< how far it may be off
  Forecast forecast;
  std::vector<std::size_t> by;  ///< the run that it was made from
  bool is_bound = false;        ///< no value of the argument gains more than this; it may well cost
};

/// The fixes whose predictions are about an argument of this name: "--num-workers" → use-workers, more-workers, …; empty: none is known.
std::vector<std::string> fixes_for_name(std::string_view name);
/// All that any argument's name or hand asks for, each once.
std::vector<std::string> fixes_asked_for(const TrainerSwitches& knobs);
/// Samples of a step grow with it.
bool is_batch_size(const TrainerSwitch& knob);

/// What the predictions of a run with these values (indexes as in Hint) say of its neighbours. A fix that asks for a
/// number speaks for the listed value that comes nearest, from above where more is asked for; one that switches something
/// on, for the values that mean on.
std::vector<Hint> hints_of(const TrainerSwitches& knobs, const std::vector<std::size_t>& values,
                           const Forecasts& forecasts);

}  // namespace headway::tune
