// SPDX-License-Identifier: MIT
#include "cli/tune/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/tune/render_parts.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::tune {
namespace {

/// From this noise on, the text explains where noise comes from.
constexpr double kBusy = 0.05;

std::string predicted_text(const Trial& trial) {
  if (trial.forecast) return gain_text(trial.forecast->gain, trial.forecast->interval, false);
  return trial.at_most ? "at most " + percent(std::min(1.0, *trial.at_most)) : "–";
}

std::string trials_table(const Result& result, const RunFacts& facts) {
  std::vector<std::vector<std::string>> rows = {
      {"Round", "Tried", "Instead of", "Predicted gain", "Measured gain", "Decision"}};
  for (const Trial& trial : result.trials) {
    std::string from;
    for (const Setting& setting : trial.from) from += (from.empty() ? "" : " ") + setting.second;
    rows.push_back(
        {std::to_string(trial.round), words_of(trial.change), from, predicted_text(trial),
         trial.measured ? gain_text(trial.measured->share, trial.measured->interval, facts.exact)
                        : "–",
         decision_text(trial)});
  }
  return table(rows);
}

/// Groups by reason, in the order of first appearance.
std::string left_text(const Result& result) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const Untried& left : result.untried) {
    if (left.why.starts_with("does not apply")) continue;
    const auto found =
        std::ranges::find(by_reason, left.why, [](const auto& r) { return r.first; });
    if (found == by_reason.end()) {
      by_reason.emplace_back(left.why, left.switches);
    } else {
      found->second += "; " + left.switches;
    }
  }
  std::string text = by_reason.empty() ? "" : "\nNot tried:\n";
  for (const auto& [why, switches] : by_reason)
    text += fmt::format("  {}: {}\n", escape_terminal(why), switches);
  return text;
}

std::vector<std::string> best_command(const Result& result, const RunFacts& facts) {
  return facts.varied ? facts.varied->words(result.kept) : apply(facts.command, result.kept);
}

std::string best_text(const Result& result, const RunFacts& facts) {
  if (result.kept.empty()) return "Best: the command line unchanged; no tried setting is faster.\n";
  const double speed_up = 1 / (1 - result.total.share);
  std::string interval = facts.exact ? std::string()
                                     : fmt::format(" (95 % interval {} to {} %)",
                                                   format_number(100 * result.total.interval.low),
                                                   format_number(100 * result.total.interval.high));
  return fmt::format("Best: {} instead of {} per step, {} less{}, {:.2f}× as fast:\n\n  {}\n",
                     seconds(result.best_step_s), seconds(result.base_step_s),
                     percent(result.total.share), interval, speed_up,
                     escape_terminal(shell_line(best_command(result, facts))));
}

std::string base_text(const Result& result, const RunFacts& facts) {
  if (result.run_s == 0) return "Interrupted before the first run finished.\n";
  std::string text = fmt::format("Base: {} per step, {} of {} steps.", seconds(result.base_step_s),
                                 facts.simulated ? "mean" : "median", facts.steps);
  text +=
      facts.exact
          ? fmt::format(" Simulated runs repeat exactly; a gain below {} does not count.\n",
                        format_percent(result.noise))
          : fmt::format(" Noise of a comparison: {} of the step.\n", format_percent(result.noise));
  if (!facts.exact && result.noise > kBusy)
    text +=
        "Other work on this machine makes runs differ: use an idle machine, more --steps or more "
        "--repeat to detect smaller gains.\n";
  if (!result.cannot.empty())
    text += fmt::format("Nothing was predicted, because {}.\n", escape_terminal(result.cannot));
  return text;
}

}  // namespace

std::string render_text(const Result& result, const RunFacts& facts) {
  if (facts.varied) return render_grid_text(result, facts);
  std::string text = base_text(result, facts) + "\n";
  if (!result.trials.empty()) text += trials_table(result, facts);
  if (result.trials.empty() && result.run_s > 0) text += "Nothing was tried.\n";
  text += left_text(result);
  if (result.run_s > 0) text += "\n" + best_text(result, facts);
  text += fmt::format("\n{} of {}: {} run{} and {} recording{}; {}.\n", seconds(result.used_s),
                      seconds(facts.budget_s), result.runs, result.runs == 1 ? "" : "s",
                      result.recordings, result.recordings == 1 ? "" : "s", stopped_text(result));
  if (result.prediction_error)
    text += fmt::format("Predicted steps were off by {} (median).\n",
                        format_percent(*result.prediction_error));
  return text;
}

std::string render_json(const Result& result, const RunFacts& facts) {
  Json root = {{"schema", "headway.tune"}, {"version", 1}};
  if (facts.varied) add_grid_json(result, facts, root);
  root["command"] = facts.command;
  root["simulated"] = facts.simulated;
  if (!facts.varied || facts.steps > 0) root["steps"] = facts.steps;
  root["repeat"] = facts.repeat;
  root["budget_s"] = facts.varied && facts.budget_s <= 0 ? Json(nullptr) : Json(facts.budget_s);
  root["base"] = {{"step_s", result.base_step_s}, {"noise", result.noise}, {"run_s", result.run_s}};
  root["cannot_predict"] = or_null(result.cannot);
  root["trials"] = Json::array();
  for (const Trial& trial : result.trials) {
    root["trials"].push_back(
        {{"round", trial.round},
         {"fix", or_null(trial.fix)},
         {"change", change_json(trial.change)},
         {"from", change_json(trial.from)},
         {"predicted", predicted_json(trial.forecast)},
         {"at_most", trial.at_most ? Json(*trial.at_most) : Json(nullptr)},
         {"measured", trial.measured ? gain_json(trial.measured->share, trial.measured->interval)
                                     : Json(nullptr)},
         {"pairs", trial.pairs},
         {"decision", decision_id(trial.decision)},
         {"why", trial.why}});
    if (trial.expected)
      root["trials"].back()["expected"] =
          gain_json(trial.expected->share, trial.expected->interval);
  }
  root["not_tried"] = Json::array();
  for (const Untried& left : result.untried)
    root["not_tried"].push_back({{"fix", or_null(left.fix)},
                                 {"switches", left.switches},
                                 {"predicted", predicted_json(left.forecast)},
                                 {"why", left.why}});
  root["best"] = {{"change", change_json(result.kept)},
                  {"step_s", result.best_step_s},
                  {"gain", gain_json(result.total.share, result.total.interval)},
                  {"command", best_command(result, facts)}};
  root["runs"] = result.runs;
  root["recordings"] = result.recordings;
  root["used_s"] = result.used_s;
  root["stopped"] = stopped_id(result.stopped);
  root["prediction_error"] =
      result.prediction_error ? Json(*result.prediction_error) : Json(nullptr);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::tune
