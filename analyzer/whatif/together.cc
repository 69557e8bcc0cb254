// SPDX-License-Identifier: MIT
#include "analyzer/whatif/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::analyzer {

Together together(std::span<const ProposedFix> fixes) {
  Together all;
  for (const ProposedFix& one : fixes) {
    if (!one.proposal->applies) {
      all.missing = fmt::format("{} does not apply: {}", one.fix->id, one.proposal->text);
      return all;
    }
    if (one.proposal->scenario.work != 1 && fixes.size() > 1) {
      all.missing = fmt::format(
          "{} changes the batch, and its step is per recorded batch: predict it separately",
          one.fix->id);
      return all;
    }
  }
  for (const ProposedFix& one : fixes) {
    for (Scenario& other : all.otherwise) other = other.with(one.proposal->scenario);
    for (const Scenario& other : one.proposal->otherwise)
      all.otherwise.push_back(fixes.size() == 1 ? other : all.scenario.with(other));
    all.scenario = fixes.size() == 1 ? one.proposal->scenario
                                     : std::exchange(all.scenario, {}).with(one.proposal->scenario);
    all.alone.push_back(one.proposal->scenario);
    all.model_errors.push_back(one.fix->model_error);
  }
  for (std::size_t left_out = 0; left_out < fixes.size(); ++left_out) {
    Scenario& others = all.without.emplace_back();
    for (std::size_t i = 0; i < fixes.size(); ++i)
      if (i != left_out) others = others.with(fixes[i].proposal->scenario);
  }
  return all;
}

Prediction Together::predict(const Predictor& predictor) const {
  return predictor.predict(scenario, model_error(predictor), otherwise);
}

/// Combined error, weighted by each fix's own gain: its gain alone and the loss without it, so that
/// the order of the fixes does not matter.
double Together::model_error(const Predictor& predictor) const {
  const double largest = std::ranges::max(model_errors);
  if (alone.size() == 1) return largest;
  std::vector<Scenario> asked = alone;
  asked.insert(asked.end(), without.begin(), without.end());
  asked.push_back(scenario);
  const std::vector<Prediction> predictions = predictor.predict(asked);
  const DurationNs all = predictions.back().gain;
  double off = 0;
  double own = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const DurationNs lost = all - predictions[alone.size() + i].gain;
    const auto its = static_cast<double>(std::max<std::int64_t>(predictions[i].gain.ns, 0) +
                                         std::max<std::int64_t>(lost.ns, 0));
    off += its * model_errors[i];
    own += its;
  }
  return own == 0 ? largest : off / own;
}

}  // namespace headway::analyzer
