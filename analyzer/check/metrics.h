// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
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

/// Every metric with a fixed name, in a fixed order; docs/reference/budgets.md lists their names.
/// Where devices differ, the worst one counts.
std::vector<Metric> metrics(const trace::Trace& trace, const Analysis& analysis);

/// A family of metrics about a named thing: `op."layer1.0.conv1".ms`.
struct NamedMetric {
  std::string_view kind;   ///< "op", "kernel"
  std::string_view field;  ///< "ms", "pct", "kernels"
  std::string_view unit;
  std::string_view doc;
};
std::span<const NamedMetric> named_metrics();

/// "op.layer1.0.conv1.ms" taken apart; nullopt when it names no family. The name may hold dots and,
/// as a glob, * and ?.
struct NamedMetricKey {
  const NamedMetric* metric = nullptr;
  std::string name;
};
std::optional<NamedMetricKey> named_metric_key(std::string_view key);

/// Its value: the sum over what the name fits, per steady step. `problem` says what is missing when
/// there is none.
std::optional<double> named_value(const NamedMetricKey& key, const trace::Trace& trace,
                                  const Analysis& analysis, std::string& problem);

}  // namespace headway::analyzer
