// SPDX-License-Identifier: MIT
#include "cli/tune/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/format.h"

namespace headway::tune {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The reason why `tune` does not try this value of the switch; empty: it may.
std::string objection(const Setting& setting, const TrainerSwitches& switches,
                      const Options& options) {
  const auto& [name, value] = setting;
  const TrainerSwitch* one = switches.find(name);
  const std::string option = words_of({setting});
  if (!one) return "not a switch of this headway-train";
  if (!one->tunable || !one->may_be(value))
    return fmt::format("{} changes the computation or the emulated machine", option);
  if (!options.only.empty() && !contains(options.only, name)) return "not in --only";
  if (one->when_allowed && !contains(options.allow, name))
    return fmt::format("changes the arithmetic, needs --allow {}", name);
  return {};
}

std::string too_little(double at_most, double noise) {
  return fmt::format("predicted to gain at most {}, less than {}",
                     format_percent(std::clamp(at_most, 0.0, 1.0)), format_percent(noise));
}

/// Adds one way to realise a fix to `to_try` or to `untried`.
void sort_in(const Forecast& forecast, const Change& alternative, const TrainerSwitches& switches,
             const Change& kept, const Options& options, double noise, Candidates& result) {
  Change change;
  std::string why;
  for (const Setting& setting : alternative) {
    if (why.empty()) why = objection(setting, switches, options);
    if (value_now(switches, kept, setting.first) != setting.second) change.push_back(setting);
  }
  if (why.empty() && change.empty()) why = "so already";
  if (why.empty() && forecast.interval.high < noise)
    why = too_little(forecast.interval.high, noise);
  if (why.empty()) {
    result.to_try.push_back({forecast, change});
  } else {
    result.untried.push_back({forecast.fix, words_of(alternative), forecast, why});
  }
}

}  // namespace

std::string value_now(const TrainerSwitches& switches, const Change& kept,
                      const std::string& name) {
  const auto found = std::ranges::find(kept, name, &Setting::first);
  return found == kept.end() ? switches.value(name) : found->second;
}

Candidates choose_candidates(const Forecasts& forecasts, const TrainerSwitches& switches,
                             const Change& kept, const Options& options, double noise) {
  Candidates result;
  for (const Forecast& forecast : forecasts.fixes) {
    const NamedSwitches named = parse_named_switches(forecast.switches);
    if (!forecast.applies) {
      if (!named.alternatives.empty())
        result.untried.push_back(
            {forecast.fix, forecast.switches, std::nullopt, "does not apply: " + forecast.text});
      continue;
    }
    for (const Change& alternative : named.alternatives)
      sort_in(forecast, alternative, switches, kept, options, noise, result);
  }
  std::ranges::stable_sort(result.to_try, [](const Candidate& a, const Candidate& b) {
    return a.forecast.gain > b.forecast.gain;
  });
  return result;
}

Unpredicted choose_unpredicted(const Forecasts& forecasts, const TrainerSwitches& switches,
                               const Options& options, double noise) {
  std::set<std::string> predicted;
  std::set<std::string> bounded;
  std::map<std::string, double> at_most;
  Unpredicted result;
  for (const Forecast& forecast : forecasts.fixes) {
    const NamedSwitches named = parse_named_switches(forecast.switches);
    for (const Change& change : named.alternatives)
      for (const Setting& setting : change) predicted.insert(setting.first);
    const double most = forecast.applies ? forecast.interval.high : 0;
    if (!forecast.ceiling) continue;
    for (const std::string& name : named.bare) at_most[name] = most;
    if (most >= noise) continue;
    std::string words;
    for (const std::string& name : named.bare) {
      const TrainerSwitch* one = switches.find(name);
      if (!one || !one->tunable) continue;
      if (!options.only.empty() && !contains(options.only, name)) continue;
      bounded.insert(name);
      words += (words.empty() ? "" : ", ") + option_of(name);
    }
    if (words.empty()) continue;
    result.untried.push_back(
        {forecast.fix, words, forecast.applies ? std::optional<Forecast>(forecast) : std::nullopt,
         forecast.applies ? too_little(most, noise) : "does not apply: " + forecast.text});
  }
  if (!forecasts.missing.empty()) predicted.clear();
  for (const TrainerSwitch& one : switches.all) {
    if (!one.tunable || !one.matters || predicted.contains(one.name) || bounded.contains(one.name))
      continue;
    if (!options.only.empty() && !contains(options.only, one.name)) continue;
    if (one.when_allowed && !contains(options.allow, one.name)) continue;
    const auto limit = at_most.find(one.name);
    result.to_try.push_back(
        {&one, limit == at_most.end() ? std::nullopt : std::optional<double>(limit->second)});
  }
  return result;
}

}  // namespace headway::tune
