// SPDX-License-Identifier: MIT
#include "cli/tune/render_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"
#include "common/text.h"

namespace headway::tune {
namespace {

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t used = count_columns(text);
  return text + std::string(used < columns ? columns - used : 0, ' ');
}

}  // namespace

std::string seconds(double s) {
  return format_duration({static_cast<std::int64_t>(s * 1e9)});
}

std::string percent(double share) {
  return format_number(100 * share) + " %";
}

std::string gain_text(double share, const Bounds& interval, bool exact) {
  if (exact) return percent(share);
  return fmt::format("{} ({} to {})", percent(share), format_number(100 * interval.low),
                     format_number(100 * interval.high));
}

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

std::string stopped_text(const Result& result) {
  switch (result.stopped) {
    case Stopped::kDone:
      return "no setting is left to try";
    case Stopped::kBudget:
      return "the time budget is spent; a larger --budget may find more";
    case Stopped::kSignal:
      return "interrupted";
    case Stopped::kFailure:
      return "a run failed that worked before: " + escape_terminal(result.stopped_why);
  }
  return "";
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

}  // namespace headway::tune
