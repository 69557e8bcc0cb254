// SPDX-License-Identifier: MIT
// `headway check --init`: a budget that today's run keeps with a margin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/check/check_report.h"
#include "common/statistics.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Groups of classes that take less of the step than this are left out: their noise is all there is.
constexpr double kWorthLimiting = 1;  // percent
/// The margin over today's median step: three standard errors of it, at least this; twice that for
/// slow steps, of which there are few.
constexpr double kStepMargin = 0.05;
/// The margin over a share: a fifth of it, at least two points.
constexpr double kShareMargin = 0.2;
constexpr double kLeastPoints = 2;

/// Rounded up to two significant digits beyond the point, so that the file reads well.
double rounded_up(double value) {
  if (value <= 0) return 0;
  double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  return std::ceil(value / unit) * unit;
}

double step_margin(const Analysis& analysis) {
  std::vector<double> steps = analysis.steps.steady_durations_ns();
  double middle = median(steps);
  if (middle <= 0) return kStepMargin;
  double deviation = 1.4826 * median_absolute_deviation(steps) / middle;
  double error_of_median = 1.2533 * deviation / std::sqrt(static_cast<double>(steps.size()));
  return std::max(kStepMargin, 3 * error_of_median);
}

std::string line(const std::string& key, const std::string& value, const std::string& comment) {
  return fmt::format("{:<34} # {}\n", fmt::format("{} = \"{}\"", key, value),
                     escape_terminal(comment));
}

}  // namespace

std::string starter_budget(const trace::Trace& trace, const Analysis& analysis) {
  std::string out = fmt::format(
      "# A budget for `headway check`, made from {}\n# Each limit is the value of that run plus a "
      "margin; the comment gives the value. Tighten what you care about.\n# Metric names: `headway "
      "check TRACE --list`. Limit syntax: docs/user-guide/check.md\n",
      escape_terminal(trace.path));
  std::vector<Metric> known = metrics(trace, analysis);
  double margin = step_margin(analysis);
  std::string cost;
  std::string steps;
  std::string groups;
  std::string findings;
  for (const Metric& metric : known) {
    std::size_t dot = metric.name.find('.');
    std::string table = metric.name.substr(0, dot);
    std::string key = dot == std::string::npos ? "" : metric.name.substr(dot + 1);
    if (table == "step_cost_ms" && metric.value) {
      cost =
          line(table, fmt::format("< {:g}", rounded_up(*metric.value * (1 + margin))),
               fmt::format("{:.3f} ms, margin {:.0f} %; includes slow steps and time between steps",
                           *metric.value, 100 * margin));
    }
    if (table == "step_ms" && metric.value && key != "max") {
      double of_this = key == "p50" ? margin : 2 * margin;
      steps += line(key, fmt::format("< {:g}", rounded_up(*metric.value * (1 + of_this))),
                    fmt::format("{:.3f} ms, margin {:.0f} %", *metric.value, 100 * of_this));
    }
    if (table == "group_pct" && key != "compute" && metric.value && *metric.value >= kWorthLimiting)
      groups += line(
          key,
          fmt::format("< {:g}", rounded_up(*metric.value +
                                           std::max(kLeastPoints, kShareMargin * *metric.value))),
          fmt::format("{:.1f} % of the step", *metric.value));
  }
  for (const Finding& finding : analysis.findings) {
    std::string rule(finding.rule);
    double share = 100 * finding.share_of_step;
    if (finding.status == Status::kFound)
      findings += line(
          rule,
          fmt::format("< {:g}", rounded_up(share + std::max(kLeastPoints, kShareMargin * share))),
          fmt::format("found: {:.1f} % of the step recoverable", share));
    else if (finding.status == Status::kFine)
      findings += line(rule, "forbid", "fine in that run");
    else
      findings += "# " + line(rule, "forbid", "unknown in that run");
  }
  // Before the first table: keys after a table header belong to that table.
  if (!cost.empty()) out += "\n" + cost;
  if (!steps.empty())
    out += "\n[step_ms]                          # median and slow steps\n" + steps;
  if (!groups.empty())
    out += "\n[group_pct]                        # percent of the step\n" + groups;
  if (!findings.empty())
    out +=
        "\n[finding]                          # \"forbid\", \"warn\", \"allow\", or percent of the "
        "step\n" +
        findings;
  out += "\n[trace]\nlosses = 0                         # lost records\n";
  out +=
      "\n# Against another run, with --baseline base.sqlite: fails on significant growth of the "
      "step cost beyond the limit.\n# [vs_baseline]\n# step = \"+3%\"\n";
  return out;
}

}  // namespace headway::analyzer
