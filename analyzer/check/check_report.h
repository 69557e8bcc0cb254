// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/check/budget.h"

namespace headway::analyzer {

/// A finished check, ready to be rendered.
struct CheckReport {
  const Budget& budget;
  const std::vector<LimitResult>& results;
  const CheckInput& input;
  bool over = false;
  std::string tool_version;
};

std::string check_text(const CheckReport& report, std::size_t width);
std::string check_markdown(const CheckReport& report);
std::string check_json(const CheckReport& report);
std::string check_junit(const CheckReport& report);
std::string check_sarif(const CheckReport& report);

/// A first budget for a run: its current figures with a margin, every line explained. TOML.
std::string starter_budget(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
