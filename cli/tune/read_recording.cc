// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/diff/tables.h"
#include "analyzer/job/analyze_job.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "cli/tune/command_runs.h"
#include "cli/tune/forecast.h"
#include "common/error.h"
#include "common/parallel.h"
#include "trace/load/load.h"

namespace headway::tune {
namespace {

/// With fewer steady steps no interval is meaningful.
constexpr std::size_t kFewestSteps = 5;

constexpr const char* kNoSteps =
    "the recording has no steps. PyTorch loops are detected; in other programs, put an NVTX range "
    "around each step and name it with --step-range NAME. `headway run` on the command shows the "
    "detected steps";

/// A recording without events cannot be analysed; it is reported as a program without steps.
std::unique_ptr<analyzer::JobReport> analyzed(trace::Trace trace,
                                              const analyzer::AnalysisOptions& options) {
  try {
    return analyzer::analyze_ranks(std::move(trace), options);
  } catch (const Error&) {
    throw RunFailed(kNoSteps);
  }
}

std::string first_finding(const analyzer::Analysis& analysis) {
  for (const analyzer::Finding& finding : analysis.findings)
    if (finding.status == analyzer::Status::kFound) return std::string(finding.title);
  return analysis.plan.empty() ? "nothing worth fixing" : "several limits at once";
}

Forecasts forecasts_of(const analyzer::JobReport& report, const std::vector<std::string>& ids) {
  Forecasts result;
  const analyzer::Predictor predictor(report.trace, report.analysis);
  result.missing = predictor.missing();
  if (!result.missing.empty()) return result;
  std::vector<const analyzer::Fix*> fixes;
  for (const std::string& id : ids)
    if (const analyzer::Fix* fix = analyzer::find_fix(id)) fixes.push_back(fix);
  result.fixes.resize(fixes.size());
  run_parallel(fixes.size(),
               [&](std::size_t i) { result.fixes[i] = forecast_of(*fixes[i], predictor); });
  return result;
}

}  // namespace

Reading read_recording(const std::filesystem::path& path, const std::string& step_range,
                       const std::vector<std::string>& fixes) {
  Reading result;
  try {
    analyzer::AnalysisOptions options;
    options.steps.range = step_range;
    const auto report = analyzed(trace::load(path), options);
    analyzer::Analysis& analysis = report->analysis;
    result.run.steps = analyzer::step_durations(analysis);
    if (result.run.steps.empty()) throw RunFailed(kNoSteps);
    if (result.run.steps.size() < kFewestSteps)
      throw RunFailed(fmt::format(
          "{} steady step{} cannot be compared: at least {} are needed after warm-up. Run longer",
          result.run.steps.size(), result.run.steps.size() == 1 ? "" : "s", kFewestSteps));
    for (double& step : result.run.steps) step *= 1e-9;
    result.run.samples_per_s = analysis.samples_per_s();
    result.samples_per_step = analysis.samples_per_step;
    result.run.forecasts = forecasts_of(*report, fixes);
    analyzer::predict_findings(report->trace, analysis, {},
                               report->whole ? &*report->whole : nullptr);
    result.run.held_back_by = first_finding(analysis);
  } catch (const Error& error) {
    throw RunFailed(fmt::format("the recording cannot be analysed: {}", error.what()));
  }
  return result;
}

}  // namespace headway::tune
