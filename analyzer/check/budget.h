// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/check/metrics.h"
#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// One line of a budget: `step_ms.p50 = "< 120"`, `finding.host-sync = "forbid"`,
/// `vs_baseline.step = "+3%"`.
struct Limit {
  enum class Kind : std::uint8_t {
    kBound,     ///< `actual op value`
    kForbid,    ///< a rule must not find anything
    kAllow,     ///< a rule may find anything; listed, never broken
    kBaseline,  ///< no significant growth beyond `value` percent of the baseline's step
  };
  enum class Op : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
  std::string metric;
  Kind kind = Kind::kBound;
  Op op = Op::kLessEqual;
  double value = 0;
  bool only_warn = false;  ///< when broken, it warns and does not fail
  std::string text;        ///< as written, for messages
  std::uint32_t line = 0;  ///< in the budget file
};

struct Budget {
  std::filesystem::path path;
  std::vector<Limit> limits;  ///< in the order of the file
  AnalysisOptions analysis;   ///< [options] step_range, skip_steps
  std::string baseline;       ///< [options] baseline, relative to the budget's folder; may be empty
  bool allow_unknown = false;
  bool needs_baseline() const;
};

/// Reads a TOML budget (docs/user-guide/check.md). Tables are joined by dots, so [step_ms] p50 = "<
/// 120" and "step_ms.p50" = "< 120" are the same. Throws Error(kBadInput) naming file, line, key,
/// what was expected and the nearest legal names.
Budget read_budget(const std::filesystem::path& path);

/// The outcome of one limit.
struct LimitResult {
  enum class Outcome : std::uint8_t { kKept, kWarned, kBroken, kCannotTell };
  Limit limit;
  std::string unit;
  std::optional<double> actual;
  Outcome outcome = Outcome::kCannotTell;
  std::string note;  ///< what is missing, or how sure a comparison is; may be empty
};
std::string_view outcome_id(
    LimitResult::Outcome outcome);  ///< "kept", "warned", "broken", "cannot_tell"

/// What a budget is checked against.
struct CheckInput {
  DiffRun run;
  const DiffRun* baseline = nullptr;  ///< needed by limits of kind kBaseline
};
std::vector<LimitResult> check_budget(const Budget& budget, const CheckInput& input);

/// True when the check fails: a limit is broken, or cannot be judged and that is not allowed.
bool over_budget(const std::vector<LimitResult>& results, bool allow_unknown);

/// The metrics of limits against a baseline: "vs_baseline.step", "vs_baseline.class.h2d", …
std::vector<Metric> baseline_metrics();

}  // namespace headway::analyzer
