// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/switches/switches.h"
#include "tests/reference_trainer/simulated_data.h"

namespace headway::test {

struct Simulated {
  trainer::Settings settings;
  trainer::sim::SimulatedRun run;
};

/// A recorded run of `settings` on the simulated GPU.
inline Simulated simulate(const trainer::Settings& settings, std::int64_t steps) {
  Simulated result;
  result.settings = settings;
  result.settings.device = trainer::DeviceKind::kSim;
  result.settings.steps = steps;
  SimulatedData data(result.settings);
  result.run = trainer::sim::simulate(result.settings, data.data(), {true, false}, {});
  result.run.settings = {{"trainer", "headway-train"}};
  for (const trainer::Switch& one : trainer::all_switches())
    result.run.settings.emplace_back(one.name, one.get(result.settings));
  return result;
}

inline Simulated simulate(std::string_view name, bool planted = true) {
  const trainer::Preset& preset = trainer::find_preset(name);
  trainer::EffectiveSettings effective;
  effective.apply(preset, trainer::DeviceKind::kSim);
  return simulate(planted ? effective.values() : effective.without_planted().value(),
                  enough_steps(preset));
}

/// The values of switches, each over what came before.
using Switches = std::vector<std::pair<std::string, std::string>>;
inline Simulated simulate(const Switches& switches, std::int64_t steps) {
  trainer::EffectiveSettings effective;
  for (const auto& [name, value] : switches) effective.apply(name, value);
  return simulate(effective.values(), steps);
}

}  // namespace headway::test
