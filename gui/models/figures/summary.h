// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/trace.h"

namespace headway::analyzer {
struct JobReport;
}

namespace headway::gui {

struct KeyFigure {
  std::string label;
  std::string value;
  std::string note;  ///< small print: denominators, how the figure was found
};

/// One class of the waterfall.
struct WaterfallBar {
  analyzer::TimeClass time_class = analyzer::TimeClass::kUnknown;
  DurationNs begin;  ///< start of the bar: the sum of the bars before it
  DurationNs length;
};

/// The step cost of the slowest device or training thread, by time class.
struct Waterfall {
  std::uint32_t partition = 0;
  std::string title;
  std::string total;               ///< what the bars sum to: "Step cost", or "Total" without steps
  std::vector<WaterfallBar> bars;  ///< in the order of the classes; they sum to `length`
  DurationNs length;
};

struct Summary {
  std::string headline;  ///< the verdict: "Input-bound: 38 % of each step …"
  std::string verdict;   ///< a sentence or two
  std::vector<KeyFigure> figures;
  std::optional<Waterfall> waterfall;  ///< none: no device work
};

/// `job`: the command line's report on the ranks in the trace; null for one rank. With it, verdict
/// and figures are those of the rank that the report looks at.
Summary summarize(const trace::Trace& trace, const analyzer::Analysis& analysis,
                  const analyzer::JobReport* job = nullptr);

}  // namespace headway::gui
