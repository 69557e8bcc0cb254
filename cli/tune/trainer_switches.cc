// SPDX-License-Identifier: MIT
#include "cli/tune/trainer_switches.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/error.h"

namespace headway::tune {

const TrainerSwitch* TrainerSwitches::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &TrainerSwitch::name);
  return found == all.end() ? nullptr : &*found;
}

std::string TrainerSwitches::value(std::string_view name) const {
  const TrainerSwitch* one = find(name);
  return one ? one->value : std::string();
}

bool TrainerSwitch::may_be(const std::string& wanted) const {
  if (!values.empty()) return std::ranges::find(values, wanted) != values.end();
  char* end = nullptr;
  const double number = std::strtod(wanted.c_str(), &end);
  return !wanted.empty() && *end == '\0' && number >= static_cast<double>(least) &&
         number <= static_cast<double>(most);
}

TrainerSwitches parse_switches(std::string_view text) {
  try {
    const auto root = nlohmann::json::parse(text);
    if (root.at("schema") != "headway-train.switches" || root.at("version") != 1)
      fail_input(
          "headway-train --switches: its version differs from this headway; install both from the "
          "same build.");
    TrainerSwitches result;
    for (const auto& entry : root.at("switches")) {
      TrainerSwitch one;
      one.name = entry.at("name");
      one.value = entry.at("value");
      if (const auto& tune = entry.at("tune"); !tune.is_null()) {
        one.tunable = true;
        if (tune.contains("values")) {
          one.values = tune.at("values").get<std::vector<std::string>>();
        } else {
          one.least = tune.at("least");
          one.most = tune.at("most");
        }
        one.when_allowed = tune.at("when_allowed");
        one.matters = tune.at("matters");
      }
      result.all.push_back(std::move(one));
    }
    return result;
  } catch (const nlohmann::json::exception&) {
    fail_input(
        "headway-train did not list its switches: remove options that print and exit (--help, "
        "--explain, --print-graph, --reference), or install it from the same build.");
  }
}

std::string next_value(const TrainerSwitch& of, const std::string& value, bool up) {
  char* end = nullptr;
  const double now = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return {};
  const auto least = static_cast<double>(of.least);
  const auto most = static_cast<double>(of.most);
  const double next =
      up ? std::min(most, std::max({1.0, least, 2 * now})) : std::max(least, std::floor(now / 2));
  if (up ? next <= now : next >= now) return {};
  return std::to_string(static_cast<std::int64_t>(next));
}

}  // namespace headway::tune
