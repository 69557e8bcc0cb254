// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/change.h"

namespace headway::tune {

/// A switch as `headway-train --switches` tells it. What may be tried is declared with the switch
/// (reference_trainer/switches/switches.cc) and nowhere here.
struct TrainerSwitch {
  std::string name;
  std::string value;                     ///< in effect
  bool tunable = false;                  ///< false: it is left as it is
  std::vector<std::string> values = {};  ///< to try; none: it is doubled and halved
  std::int64_t least = 0;                ///< bounds of the doubling
  std::int64_t most = 0;
  bool when_allowed = false;  ///< changes the arithmetic
  bool matters = true;        ///< it can change this run
  std::vector<std::string> fixes =
      {};  ///< of --vary: whose predictions are about it; none: told by its name

  /// Whether `wanted` is a value to try, or a number within the bounds of the doubling.
  bool may_be(const std::string& wanted) const;
};

/// What headway-train says about a command line.
struct TrainerSwitches {
  std::vector<TrainerSwitch> all;  ///< in the trainer's order

  const TrainerSwitch* find(std::string_view name) const;  ///< null: there is none
  std::string value(std::string_view name) const;          ///< empty: there is none
  bool simulated() const { return value("device") == "sim"; }
  /// Runs of the same settings take exactly the same time.
  bool exact() const { return simulated() && value("jitter") == "0"; }
};

/// Throws Error(kBadInput) when the text is not what `headway-train --switches` prints.
TrainerSwitches parse_switches(std::string_view json);

/// The value twice or half as large within the switch's bounds; empty when there is none, or the value
/// is no number.
std::string next_value(const TrainerSwitch& of, const std::string& value, bool up);

}  // namespace headway::tune
