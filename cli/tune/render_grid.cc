// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/tune/render_parts.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::tune {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string shown_value(const Knob& knob, const Change& setting) {
  const auto found = std::ranges::find(setting, knob.key(), &Setting::first);
  const std::string& value = found == setting.end() ? knob.values.front() : found->second;
  return value.empty() ? std::string(kAbsent) : escape_terminal(value);
}

std::string setting_header(const Knob& knob) {
  return escape_terminal(knob.name);
}

/// Why the setting was run: fixes, and what earlier runs showed.
std::string told_by(const Trial& trial) {
  if (trial.is_repeat) return "to confirm";
  if (trial.fix.empty()) return "runs so far";
  return trial.fix + (trial.is_explored ? ", runs so far" : "");
}

std::string predicted_text(const Trial& trial) {
  if (trial.forecast) return gain_text(trial.forecast->gain, trial.forecast->interval, false);
  return "–";  // no prediction
}

std::string decision_word(Decision decision) {
  switch (decision) {
    case Decision::kKept:
      return "best so far";
    case Decision::kNoGain:
      return "no gain";
    case Decision::kSlower:
      return "slower";
    case Decision::kFailed:
      return "failed";
  }
  return "";
}

std::string runs_table(const Result& result, const RunFacts& facts) {
  const bool samples = std::ranges::any_of(
      result.settings, [](const Measured& one) { return one.samples_per_s.has_value(); });
  Rows rows(1);
  rows[0].emplace_back("Run");
  for (const Knob& knob : facts.varied->knobs()) rows[0].push_back(setting_header(knob));
  rows[0].emplace_back("Step cost");
  if (samples) rows[0].emplace_back("Samples/s");
  rows[0].emplace_back("Limited by");
  for (std::size_t i = 0; i < result.settings.size(); ++i) {
    const Measured& one = result.settings[i];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("{}", fmt::join(one.runs, ",")));
    for (const Knob& knob : facts.varied->knobs()) row.push_back(shown_value(knob, one.setting));
    const bool failed = !one.failed.empty();
    row.push_back(failed ? "failed"
                         : fmt::format("{} ± {}", seconds(one.step_s), percent(one.half_width)));
    if (samples) row.push_back(one.samples_per_s ? fmt::format("{:.4g}", *one.samples_per_s) : "–");
    row.push_back(escape_terminal(one.held_back_by));
    if (!failed && one.setting == result.kept) row.back() += "  <- best";
  }
  return table(rows);
}

std::string failures_text(const Result& result) {
  std::string text;
  for (std::size_t i = 0; i < result.settings.size(); ++i)
    if (!result.settings[i].failed.empty())
      text += fmt::format("Run {}: {}.\n", fmt::join(result.settings[i].runs, ","),
                          escape_terminal(result.settings[i].failed));
  return text;
}

std::string search_table(const Result& result) {
  Rows rows = {{"Run", "Tried", "Told by", "Predicted gain", "Measured gain", ""}};
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    rows.push_back(
        {std::to_string(i + 2), escape_terminal(words_of(trial.change)), told_by(trial),
         predicted_text(trial),
         trial.measured ? gain_text(trial.measured->share, trial.measured->interval, false) : "–",
         decision_word(trial.decision)});
  }
  return table(rows);
}

std::string left_text(const Result& result) {
  std::string text = result.untried.empty() ? "" : "\nNot tried:\n";
  for (const Untried& left : result.untried) {
    text += fmt::format("  {}: {}", escape_terminal(left.switches), escape_terminal(left.why));
    if (left.forecast && !left.forecast->applies)
      text +=
          fmt::format(" ({} does not apply: {})", left.fix, escape_terminal(left.forecast->text));
    text += "\n";
  }
  return text;
}

std::string best_text(const Result& result, const RunFacts& facts) {
  const std::string line = escape_terminal(facts.varied->line(result.kept));
  if (result.kept.empty())
    return fmt::format("Best: the first setting; no tried setting is faster:\n\n  {}\n", line);
  return fmt::format(
      "Best: {} instead of {} per step, {} less (95 % interval {} to {} %), {:.2f}× as "
      "fast:\n\n  {}\n",
      seconds(result.best_step_s), seconds(result.base_step_s), percent(result.total.share),
      format_number(100 * result.total.interval.low),
      format_number(100 * result.total.interval.high), 1 / (1 - result.total.share), line);
}

std::string end_text(const Result& result, const RunFacts& facts) {
  std::string limits;
  if (facts.max_runs > 0) limits += fmt::format(" of at most {}", facts.max_runs);
  const std::string budget =
      facts.budget_s > 0 ? fmt::format(" of {}", seconds(facts.budget_s)) : "";
  std::string why;
  switch (result.stopped) {
    case Stopped::kDone:
      why = fmt::format("no other setting is expected to gain {} or more",
                        format_percent(result.noise));
      break;
    case Stopped::kBudget:
      why = "more --runs or --budget may find more";
      break;
    default:
      why = stopped_text(result);
  }
  return fmt::format("\n{} run{}{} for {:.0f} settings, {}{}; {}.\n", result.runs,
                     result.runs == 1 ? "" : "s", limits, facts.varied->settings(),
                     seconds(result.used_s), budget, why);
}

}  // namespace

std::string render_grid_text(const Result& result, const RunFacts& facts) {
  if (result.settings.empty()) return "Interrupted before the first run finished.\n";
  std::string text = runs_table(result, facts);
  text += failures_text(result);
  if (facts.per_sample)
    text += "Batch sizes differ: step times are scaled to the first run's samples.\n";
  if (!result.cannot.empty())
    text += fmt::format("Nothing was predicted, because {}.\n", escape_terminal(result.cannot));
  if (!result.trials.empty()) text += "\n" + search_table(result);
  text += left_text(result);
  text += "\n" + best_text(result, facts);
  text += end_text(result, facts);
  if (result.prediction_error)
    text += fmt::format("Predicted steps were off by {} (median).\n",
                        format_percent(*result.prediction_error));
  return text;
}

void add_grid_json(const Result& result, const RunFacts& facts, Json& root) {
  root["arguments"] = Json::array();
  for (const Knob& knob : facts.varied->knobs())
    root["arguments"].push_back({{"name", knob.name}, {"values", knob.values}});
  root["settings"] = Json::array();
  for (const Measured& one : result.settings) {
    Json values = Json::object();
    for (const Knob& knob : facts.varied->knobs()) {
      const auto found = std::ranges::find(one.setting, knob.key(), &Setting::first);
      values[knob.name] = found == one.setting.end() ? knob.values.front() : found->second;
    }
    const bool failed = !one.failed.empty();
    root["settings"].push_back(
        {{"values", values},
         {"runs", one.runs},
         {"step_s", failed ? Json(nullptr) : Json(one.step_s)},
         {"half_width", failed ? Json(nullptr) : Json(one.half_width)},
         {"samples_per_s", one.samples_per_s ? Json(*one.samples_per_s) : Json(nullptr)},
         {"held_back_by", or_null(one.held_back_by)},
         {"failed", or_null(one.failed)}});
  }
  root["per_sample"] = facts.per_sample;
  root["max_runs"] = facts.max_runs > 0 ? Json(facts.max_runs) : Json(nullptr);
  root["best_line"] = facts.varied->line(result.kept);
}

}  // namespace headway::tune
