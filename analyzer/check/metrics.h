// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// A figure that budgets may limit: "step_ms.p50", "class_pct.host_sync", "finding.input-bound",
/// "trace.losses".
struct Metric {
  std::string name;
  std::string unit;             ///< "ms", "%", "count"
  std::string doc;              ///< one sentence
  std::optional<double> value;  ///< nullopt: the trace cannot tell
};

/// Every metric of an analysis, in a fixed order; docs/reference/budgets.md lists their names.
std::vector<Metric> metrics(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
