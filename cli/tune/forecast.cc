// SPDX-License-Identifier: MIT
#include "cli/tune/forecast.h"
#include "analyzer/analysis.h"
#include "analyzer/whatif/fix.h"
#include "cli/tune/trainer_runs.h"
#include "common/error.h"
#include "common/parallel.h"
#include "trace/load/load.h"

namespace headway::tune {

Forecast forecast_of(const analyzer::Fix& fix, const analyzer::Predictor& predictor) {
  Forecast forecast;
  forecast.fix = fix.id;
  forecast.switches = fix.trainer_switch;
  forecast.ceiling = fix.kind == analyzer::FixKind::kCeiling;
  const analyzer::Proposal proposal = analyzer::Proposer(predictor).of(fix);
  if (!proposal.setting.empty()) forecast.switches = proposal.setting;
  forecast.applies = proposal.applies;
  forecast.text = proposal.text;
  forecast.certainty = proposal.certainty;
  if (!proposal.applies) return forecast;
  const analyzer::Prediction prediction =
      predictor.predict(proposal.scenario, fix.model_error, proposal.otherwise);
  const auto step =
      static_cast<double>(std::max<std::int64_t>(1, predictor.baseline().recorded.ns));
  forecast.gain = static_cast<double>(prediction.gain.ns) / step;
  // Narrow the interval by the replay's resolution: trials measure more precisely.
  forecast.interval = {prediction.gain_ns.low / step + analyzer::Predictor::kResolution,
                       prediction.gain_ns.high / step - analyzer::Predictor::kResolution};
  return forecast;
}

Forecasts forecast_trace(const std::filesystem::path& path) {
  Forecasts result;
  try {
    const trace::Trace trace = trace::load(path);
    const analyzer::Analysis analysis = analyzer::analyze(trace, {});
    const analyzer::Predictor predictor(trace, analysis);
    result.missing = predictor.missing();
    if (!result.missing.empty()) return result;
    std::vector<const analyzer::Fix*> fixes;
    for (const analyzer::Fix* fix : analyzer::all_fixes())
      if (!fix->trainer_switch.empty()) fixes.push_back(fix);
    result.fixes.resize(fixes.size());
    run_parallel(fixes.size(),
                 [&](std::size_t i) { result.fixes[i] = forecast_of(*fixes[i], predictor); });
  } catch (const Error& error) {
    result.fixes.clear();
    result.missing = error.what();
  }
  return result;
}

}  // namespace headway::tune
