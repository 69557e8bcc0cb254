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
    all.upto.push_back(all.scenario);
    all.model_errors.push_back(one.fix->model_error);
  }
  return all;
}

Prediction Together::predict(const Predictor& predictor) const {
  return predictor.predict(scenario, model_error(predictor), otherwise);
}

double Together::model_error(const Predictor& predictor) const {
  const double largest = std::ranges::max(model_errors);
  if (upto.size() == 1) return largest;
  double off = 0;
  double before = 0;
  const std::vector<Prediction> predictions = predictor.predict(upto);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto gain = static_cast<double>(predictions[i].gain.ns);
    off += std::fabs(gain - before) * model_errors[i];
    before = gain;
  }
  return before == 0 ? largest : off / std::fabs(before);
}

}  // namespace headway::analyzer
