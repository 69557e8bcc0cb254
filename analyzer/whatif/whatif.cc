// SPDX-License-Identifier: MIT
#include "analyzer/whatif/whatif.h"

#include <algorithm>

#include "analyzer/whatif/best_order.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

constexpr double kTenthLess = 0.9;
/// Least share of the step that a further fix must gain to be named.
constexpr double kWorthAdding = 0.01;
constexpr std::size_t kOpsShown = 20;

Scenario scaled_parts(const Predictor& predictor, double by, auto fits) {
  Scenario scenario;
  for (std::size_t part = 0; part < predictor.parts().size(); ++part) {
    if (fits(predictor.parts()[part])) scenario.scale(PartId::from(part), by);
  }
  return scenario;
}

void find_elasticities(const Predictor& predictor, WhatIf& result) {
  const std::vector<Part>& parts = predictor.parts();
  std::vector<DurationNs> path = predictor.path_of_parts();
  ClassTimes of_class;
  std::vector<DurationNs> of_op(predictor.analysis().attribution.ops.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    of_class[parts[part].time_class] += path[part];
    if (parts[part].kind == Part::Kind::kDevice) of_op[parts[part].op.value] += path[part];
  }
  for (std::size_t c = 0; c < kTimeClassCount; ++c) {
    if (of_class.of[c].ns > 0)
      result.classes.push_back({static_cast<TimeClass>(c), OpId{0}, of_class.of[c], {}});
  }
  for (std::uint32_t op = 1; op < of_op.size(); ++op) {
    if (of_op[op].ns > 0) result.ops.push_back({TimeClass::kUnknown, OpId{op}, of_op[op], {}});
  }
  auto by_path = [](const Elasticity& a, const Elasticity& b) { return a.on_path > b.on_path; };
  std::stable_sort(result.ops.begin(), result.ops.end(), by_path);
  if (result.ops.size() > kOpsShown) result.ops.resize(kOpsShown);
  std::vector<Scenario> scenarios;
  for (const Elasticity& one : result.classes) {
    scenarios.push_back(scaled_parts(predictor, kTenthLess, [&](const Part& part) {
      return part.time_class == one.time_class && part.kind != Part::Kind::kFixed;
    }));
  }
  for (const Elasticity& one : result.ops) {
    scenarios.push_back(scaled_parts(predictor, kTenthLess, [&](const Part& part) {
      return part.op == one.op && part.kind == Part::Kind::kDevice;
    }));
  }
  std::vector<Prediction> predictions = predictor.predict(scenarios);
  for (std::size_t i = 0; i < result.classes.size(); ++i)
    result.classes[i].gain = predictions[i].gain;
  for (std::size_t i = 0; i < result.ops.size(); ++i)
    result.ops[i].gain = predictions[result.classes.size() + i].gain;
  auto by_gain = [](const Elasticity& a, const Elasticity& b) { return a.gain > b.gain; };
  std::stable_sort(result.classes.begin(), result.classes.end(), by_gain);
  std::stable_sort(result.ops.begin(), result.ops.end(), by_gain);
}

}  // namespace

WhatIf what_if(const Predictor& predictor, std::span<const Fix* const> chosen, bool compare) {
  WhatIf result;
  result.missing = predictor.missing();
  if (!result.missing.empty()) return result;
  result.baseline = predictor.baseline();
  result.fixes.resize(chosen.size());
  std::vector<Proposal> proposals(chosen.size());
  const Proposer proposer(predictor);
  run_parallel(chosen.size(), [&](std::size_t i) {
    FixPrediction& one = result.fixes[i];
    Proposal& proposal = proposals[i];
    one.fix = chosen[i];
    proposal = proposer.of(*chosen[i]);
    one.applies = proposal.applies;
    one.text = proposal.text;
    one.setting = setting_of(*chosen[i], proposal);
    if (!one.applies) return;
    one.prediction =
        predictor.predict(proposal.scenario, chosen[i]->model_error, proposal.otherwise);
    if (compare) one.usual = usual_methods(predictor, proposal.scenario);
  });
  std::vector<ProposedFix> open;
  for (std::size_t i = 0; i < chosen.size(); ++i) open.push_back({chosen[i], &proposals[i]});
  std::stable_sort(result.fixes.begin(), result.fixes.end(),
                   [](const FixPrediction& a, const FixPrediction& b) {
                     if (a.applies != b.applies) return a.applies;
                     return a.prediction.gain > b.prediction.gain;
                   });
  for (const OrderedFix& one : best_order(predictor, std::move(open), kWorthAdding))
    result.best.push_back({one.fix, one.together});
  find_elasticities(predictor, result);
  return result;
}

}  // namespace headway::analyzer
