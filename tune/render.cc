// SPDX-License-Identifier: MIT
#include "tune/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/format.h"
#include "common/text.h"

namespace headway::tune {
namespace {

using Json = nlohmann::ordered_json;

/// From this noise on, the reader is told where it comes from.
constexpr double kBusy = 0.05;

std::string seconds(double s) {
  return format_duration({static_cast<std::int64_t>(s * 1e9)});
}

std::string percent(double share) {
  const double value = 100 * share;
  return fmt::format("{:.1f} %", std::abs(value) < 0.05 ? 0.0 : value);
}

/// "55.2 % (54.9 to 55.6)".
std::string gain_text(double share, const Bounds& interval, bool exact) {
  if (exact) return percent(share);
  auto bound = [](double x) { return std::abs(100 * x) < 0.05 ? 0.0 : 100 * x; };
  return fmt::format("{} ({:.1f} to {:.1f})", percent(share), bound(interval.low),
                     bound(interval.high));
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t used = count_columns(text);
  return text + std::string(used < columns ? columns - used : 0, ' ');
}

/// Columns as wide as what is in them.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string decision_text(const Trial& trial) {
  switch (trial.decision) {
    case Decision::kKept:
      return "kept: " + trial.why;
    case Decision::kFailed:
      return "failed: " + escape_terminal(trial.why);
    default:
      return "not kept: " + escape_terminal(trial.why);
  }
}

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

/// By reason, in the order in which they came up.
std::string left_text(const Result& result) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const Left& left : result.left) {
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

std::string stopped_text(const Result& result) {
  switch (result.stopped) {
    case Stopped::kDone:
      return "nothing is left to try";
    case Stopped::kBudget:
      return "the budget was used; more may be found with more --budget";
    case Stopped::kSignal:
      return "interrupted";
    case Stopped::kFailure:
      return "a run failed that had worked before: " + escape_terminal(result.stopped_why);
  }
  return "";
}

std::vector<std::string> best_command(const Result& result, const RunFacts& facts) {
  return apply(facts.command, result.kept);
}

std::string best_text(const Result& result, const RunFacts& facts) {
  if (result.kept.empty())
    return "Best: the command line as it is; nothing that was tried makes it faster.\n";
  const double speed_up = 1 / (1 - result.total.share);
  std::string interval =
      facts.exact ? std::string()
                  : fmt::format(" (95 % interval {:.1f} to {:.1f} %)",
                                100 * result.total.interval.low, 100 * result.total.interval.high);
  return fmt::format("Best: {} instead of {} per step, {} less{}, {:.2f}× as fast:\n\n  {}\n",
                     seconds(result.best_step_s), seconds(result.base_step_s),
                     percent(result.total.share), interval, speed_up,
                     escape_terminal(shell_line(best_command(result, facts))));
}

std::string base_text(const Result& result, const RunFacts& facts) {
  if (result.run_s == 0) return "Interrupted before the base had run.\n";
  std::string text = fmt::format("Base: {} per step, {} of {} steps.", seconds(result.base_step_s),
                                 facts.simulated ? "mean" : "median", facts.steps);
  text +=
      facts.exact
          ? fmt::format(" Simulated runs repeat exactly; below {} nothing is called a gain.\n",
                        format_percent(result.noise))
          : fmt::format(" Noise of a comparison: {} of the step.\n", format_percent(result.noise));
  if (!facts.exact && result.noise > kBusy)
    text +=
        "Other work on this machine makes runs differ: a quiet one, more --steps or more --repeat "
        "would tell smaller gains.\n";
  if (!result.cannot.empty())
    text += fmt::format("Nothing was predicted, because {}.\n", escape_terminal(result.cannot));
  return text;
}

Json gain_json(double share, const Bounds& interval) {
  return {{"share", share}, {"low", interval.low}, {"high", interval.high}};
}

Json change_json(const Change& change) {
  Json json = Json::object();
  for (const auto& [name, value] : change) json[name] = value;
  return json;
}

Json predicted_json(const std::optional<Forecast>& forecast) {
  return forecast ? gain_json(forecast->gain, forecast->interval) : Json(nullptr);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

std::string render_text(const Result& result, const RunFacts& facts) {
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
  root["command"] = facts.command;
  root["simulated"] = facts.simulated;
  root["steps"] = facts.steps;
  root["repeat"] = facts.repeat;
  root["budget_s"] = facts.budget_s;
  root["base"] = {{"step_s", result.base_step_s}, {"noise", result.noise}, {"run_s", result.run_s}};
  root["cannot_predict"] = or_null(result.cannot);
  root["trials"] = Json::array();
  for (const Trial& trial : result.trials)
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
  root["not_tried"] = Json::array();
  for (const Left& left : result.left)
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
