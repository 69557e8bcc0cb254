// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/tune/render.h"

namespace headway::tune {

using Json = nlohmann::ordered_json;

std::string seconds(double s);
/// "55.2 %"
std::string percent(double share);
/// "55.2 % (54.9 to 55.6)"; without an interval where runs are exact.
std::string gain_text(double share, const Bounds& interval, bool exact);
/// Columns are as wide as their longest cell.
std::string table(const std::vector<std::vector<std::string>>& rows);
std::string decision_text(const Trial& trial);
std::string stopped_text(const Result& result);

Json gain_json(double share, const Bounds& interval);
Json change_json(const Change& change);
Json predicted_json(const std::optional<Forecast>& forecast);
Json or_null(const std::string& text);

/// The text of a search among listed values; add_grid_json() adds its JSON members.
std::string render_grid_text(const Result& result, const RunFacts& facts);
void add_grid_json(const Result& result, const RunFacts& facts, Json& root);

}  // namespace headway::tune
