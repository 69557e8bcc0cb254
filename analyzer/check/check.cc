// SPDX-License-Identifier: MIT
// Holding a run against the limits of a budget.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/check/baseline.h"
#include "analyzer/check/budget.h"
#include "analyzer/model/finding.h"
#include "common/error.h"

namespace headway::analyzer {
namespace {

using Outcome = LimitResult::Outcome;

bool keeps(const Limit& limit, double actual) {
  switch (limit.op) {
    case Limit::Op::kLess:
      return actual < limit.value;
    case Limit::Op::kLessEqual:
      return actual <= limit.value;
    case Limit::Op::kGreater:
      return actual > limit.value;
    case Limit::Op::kGreaterEqual:
      return actual >= limit.value;
  }
  return false;
}

Outcome outcome_of(const Limit& limit, bool kept) {
  if (kept) return Outcome::kKept;
  return limit.only_warn ? Outcome::kWarned : Outcome::kBroken;
}

/// The finding that a metric "finding.<rule>" is about; null for other metrics.
const Finding* finding_of(const Limit& limit, const Analysis& analysis) {
  constexpr std::string_view kPrefix = "finding.";
  if (!limit.metric.starts_with(kPrefix)) return nullptr;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == std::string_view(limit.metric).substr(kPrefix.size())) return &finding;
  }
  return nullptr;
}

void check_finding(LimitResult& result, const Analysis& analysis) {
  const Finding* finding = finding_of(result.limit, analysis);
  if (!finding) return;
  result.note = finding->claim;
  if (result.limit.kind == Limit::Kind::kAllow)
    result.outcome = Outcome::kKept;
  else if (finding->status != Status::kCannotTell)
    result.outcome = outcome_of(result.limit, finding->status != Status::kFound);
}

void check_baseline(LimitResult& result, const CheckInput& input) {
  HEADWAY_INVARIANT(input.baseline != nullptr);
  BaselineChange change = baseline_change(result.limit.metric, *input.baseline, input.run);
  result.unit = "%";
  result.note = change.sentence;
  if (!change.enough_steps) return;
  result.actual = 100 * change.change;
  bool beyond = 100 * change.change > result.limit.value;
  result.outcome = outcome_of(result.limit, !(change.significant && beyond));
}

void check_metric(LimitResult& result, const std::vector<Metric>& known, const CheckInput& input) {
  if (auto named = named_metric_key(result.limit.metric)) {
    result.unit = named->metric->unit;
    result.actual = named_value(*named, input.run.trace, input.run.analysis, result.note);
  }
  for (const Metric& metric : known) {
    if (metric.name != result.limit.metric) continue;
    result.unit = metric.unit;
    result.actual = metric.value;
  }
  if (result.limit.kind != Limit::Kind::kBound)
    check_finding(result, input.run.analysis);
  else if (result.actual)
    result.outcome = outcome_of(result.limit, keeps(result.limit, *result.actual));
  if (result.outcome == Outcome::kCannotTell && result.note.empty()) {
    const Finding* finding = finding_of(result.limit, input.run.analysis);
    result.note = finding ? finding->claim : "the trace does not contain the data for this metric";
  }
}

}  // namespace

std::string_view outcome_id(Outcome outcome) {
  switch (outcome) {
    case Outcome::kKept:
      return "kept";
    case Outcome::kWarned:
      return "warned";
    case Outcome::kBroken:
      return "broken";
    case Outcome::kCannotTell:
      return "cannot_tell";
  }
  return "cannot_tell";
}

std::vector<LimitResult> check_budget(const Budget& budget, const CheckInput& input) {
  std::vector<Metric> known = metrics(input.run.trace, input.run.analysis);
  std::vector<LimitResult> results;
  for (const Limit& limit : budget.limits) {
    LimitResult result{limit, "", std::nullopt, Outcome::kCannotTell, ""};
    if (limit.kind == Limit::Kind::kBaseline)
      check_baseline(result, input);
    else
      check_metric(result, known, input);
    results.push_back(std::move(result));
  }
  return results;
}

bool over_budget(const std::vector<LimitResult>& results, bool allow_unknown) {
  return std::any_of(results.begin(), results.end(), [&](const LimitResult& result) {
    return result.outcome == Outcome::kBroken ||
           (result.outcome == Outcome::kCannotTell && !allow_unknown && !result.limit.only_warn);
  });
}

}  // namespace headway::analyzer
