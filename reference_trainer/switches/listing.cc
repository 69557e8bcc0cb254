// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "reference_trainer/switches/switches.h"

namespace headway::trainer {
namespace {

using Json = nlohmann::ordered_json;

/// The values to try that fit the other settings.
std::vector<std::string> fitting_values(const Switch& one, const Settings& settings) {
  std::vector<std::string> values = one.tune.values;
  if (one.tune.fits)
    std::erase_if(values, [&](const std::string& value) {
      Settings tried = settings;
      one.set(tried, value);
      return !one.tune.fits(tried);
    });
  return values;
}

Json tuning_json(const Switch& one, const Settings& settings) {
  const Tuning& tune = one.tune;
  if (tune.how == Tuning::How::kNever) return nullptr;
  Json json;
  if (tune.how == Tuning::How::kValues) {
    json["values"] = fitting_values(one, settings);
  } else {
    json["least"] = tune.least;
    json["most"] = tune.most;
  }
  json["when_allowed"] = tune.when_allowed;
  json["matters"] = tune.matters == nullptr || tune.matters(settings);
  return json;
}

}  // namespace

std::string switches_json(const EffectiveSettings& settings) {
  Json list = Json::array();
  for (const Switch& one : all_switches())
    list.push_back({{"name", one.name},
                    {"area", one.area},
                    {"legal", one.values},
                    {"value", one.get(settings.values())},
                    {"from", settings.origin(one)},
                    {"tune", tuning_json(one, settings.values())}});
  const Json root = {{"schema", "headway-train.switches"},
                     {"version", 1},
                     {"preset", settings.preset()},
                     {"switches", std::move(list)}};
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::trainer
