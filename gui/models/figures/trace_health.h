// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "gui/models/tables/linked_table.h"

namespace headway::gui {

enum class HealthLevel : std::uint8_t { kGood, kInfo, kDoubt, kLoss };
std::string_view words_of(HealthLevel level);  ///< "Fine", "Note", "Doubt", "Lost data"

/// One thing to know about the trace.
struct HealthLine {
  HealthLevel level = HealthLevel::kInfo;
  std::string what;
  std::string value;   ///< "12 345 events"; may be empty
  std::string advice;  ///< what it means and what to do; may be empty
  Target target;       ///< where to look; may be none
};

struct HealthSection {
  std::string title;
  std::vector<HealthLine> lines;
};

/// The quality of the trace: doubts, consistency checks, what was recorded and what was not, the
/// clock, the cost of recording, and the origin of the trace.
struct TraceHealth {
  HealthLevel worst = HealthLevel::kGood;
  std::string headline;
  std::vector<HealthSection> sections;
};
TraceHealth make_trace_health(const trace::Trace& trace, const analyzer::Analysis& analysis);

}  // namespace headway::gui
