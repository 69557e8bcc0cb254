// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/change.h"

namespace headway::tune {

/// A switch as `headway-train --switches` reports it. The values to try are declared with the
/// switch (reference_trainer/switches/switches.cc) and only there.
struct TrainerSwitch {
  std::string name;
  std::string value;                     ///< in effect
  bool tunable = false;                  ///< false: it is not changed
  std::vector<std::string> values = {};  ///< values to try; empty: the value is doubled and halved
  std::int64_t least = 0;                ///< bounds of the doubling
  std::int64_t most = 0;
  bool when_allowed = false;  ///< changes the arithmetic: varied only if the user allows it
  bool matters = true;        ///< it can change this run
  std::vector<std::string> fixes =
      {};  ///< of --vary: whose predictions are about it; none: told by its name

  /// Whether `wanted` is a value to try, or a number within the bounds of doubling.
  bool may_be(const std::string& wanted) const;
};

/// What headway-train says about a command line.
struct TrainerSwitches {
  std::vector<TrainerSwitch> all;  ///< in the trainer's order

  const TrainerSwitch* find(std::string_view name) const;  ///< null: there is none
  std::string value(std::string_view name) const;          ///< empty: there is none
  bool simulated() const { return value("device") == "sim"; }
  /// True if runs with equal settings take exactly the same time.
  bool exact() const { return simulated() && value("jitter") == "0"; }
};

/// Throws Error(kBadInput) when the text is not what `headway-train --switches` prints.
TrainerSwitches parse_switches(std::string_view json);

/// Twice or half the value, within the switch's bounds; empty when there is none, or the value is
/// not a number.
std::string next_value(const TrainerSwitch& of, const std::string& value, bool up);

}  // namespace headway::tune
