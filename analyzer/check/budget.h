// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/check/metrics.h"

namespace headway::analyzer {

/// One line of a budget: `step_ms.p50 = "< 120"`, `finding.host-sync = "forbid"`.
struct Limit {
  enum class Op : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
  std::string metric;
  Op op = Op::kLessEqual;
  double value = 0;
  std::string text;  ///< as written, for messages
};

/// Reads a TOML budget (docs/user-guide/check.md). Tables are joined by dots, so [step_ms] p50 = "<
/// 120" and "step_ms.p50" = "< 120" are the same. Throws Error(kBadInput) naming file, line, key,
/// what was expected and the nearest legal names.
std::vector<Limit> read_budget(const std::filesystem::path& path, const std::vector<Metric>& known);

/// The outcome of one limit.
struct LimitResult {
  enum class Outcome : std::uint8_t { kKept, kBroken, kCannotTell };
  Limit limit;
  std::string unit;
  std::optional<double> actual;
  Outcome outcome = Outcome::kCannotTell;
};

std::vector<LimitResult> check_budget(const std::vector<Limit>& limits,
                                      const std::vector<Metric>& metrics);

}  // namespace headway::analyzer
