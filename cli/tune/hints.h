// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/runs.h"
#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// A prediction for another value of one argument.
struct Hint {
  std::size_t knob = 0;   ///< index into TrainerSwitches::all
  std::size_t value = 0;  ///< 0: the start; else one more than the index into its `values`
  double log_change = 0;  ///< of the step cost, natural logarithm: -0.5 is 39 % less
  double sd = 0;          ///< standard deviation of `log_change`
  Forecast forecast;
  std::vector<std::size_t> by;  ///< the setting of the run that it was made from
  bool is_bound = false;        ///< no value of the argument gains more, and it may cost time
};

/// The fixes whose predictions concern an argument of this name: "--num-workers" → use-workers, …;
/// empty: none is known.
std::vector<std::string> fixes_for_name(std::string_view name);
/// All fixes for the arguments, from their names or as the user named them, each once.
std::vector<std::string> fixes_asked_for(const TrainerSwitches& knobs);
/// True for arguments that set the number of samples per step.
bool is_batch_size(const TrainerSwitch& knob);

/// What the predictions of a run with these values (indexes as in Hint) say about its neighbours. A
/// fix that asks for a number applies to the nearest listed value that reaches it; a fix that
/// switches something on applies to the values that mean on.
std::vector<Hint> hints_of(const TrainerSwitches& knobs, const std::vector<std::size_t>& values,
                           const Forecasts& forecasts);

}  // namespace headway::tune
