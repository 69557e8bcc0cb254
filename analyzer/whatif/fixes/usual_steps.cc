// SPDX-License-Identifier: MIT
// Steps that take far longer than the others become like those: what each kind of work takes there is what it takes in the
// step in the middle. The same for steps that grow: they stay as the first ones.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/step_trend.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 10;  ///< as the rule
/// So many usual steps tell what is usual.
constexpr std::size_t kMostCompared = 101;

/// What a part takes of a step, by part.
using Times = std::vector<double>;

/// Calls `visit` with what is in a step's time and can be changed. Slots are in the order of time.
template <class Visit>
void for_each_in(const Predictor& predictor, const MarkedStep& step, Visit visit) {
  for (std::uint32_t s = step.begin.slot.value + 1; s <= step.end.slot.value; ++s) {
    predictor.program().for_each(Slot{s}, [&](const Constraint& constraint) {
      if (predictor.parts()[constraint.part.value].kind != Part::Kind::kFixed &&
          constraint.lag.ns > 0)
        visit(constraint);
    });
  }
}

Times times_of(const Predictor& predictor, const MarkedStep& step) {
  Times times(predictor.parts().size());
  for_each_in(predictor, step, [&](const Constraint& constraint) {
    times[constraint.part.value] += static_cast<double>(constraint.lag.ns);
  });
  return times;
}

Times usual_times(const Predictor& predictor, const std::vector<const MarkedStep*>& usual) {
  std::vector<Times> all;
  const std::size_t stride = (usual.size() + kMostCompared - 1) / kMostCompared;
  for (std::size_t i = 0; i < usual.size(); i += stride)
    all.push_back(times_of(predictor, *usual[i]));
  Times result(predictor.parts().size());
  std::vector<double> of_part(all.size());
  for (std::size_t part = 0; part < result.size(); ++part) {
    for (std::size_t i = 0; i < all.size(); ++i) of_part[i] = all[i][part];
    result[part] = median(of_part);
  }
  return result;
}

/// Each part of a step takes what it takes in `often` at most.
void limit_to(const Predictor& predictor, const MarkedStep& step, const Times& often,
              Editor& editor) {
  const Times here = times_of(predictor, step);
  for_each_in(predictor, step, [&](const Constraint& constraint) {
    const std::size_t part = constraint.part.value;
    if (here[part] <= often[part]) return;
    const double left = static_cast<double>(constraint.lag.ns) * often[part] / here[part];
    editor.set_lag(constraint.id, {std::llround(left)});
  });
}

/// The first quarter of the steps tells what they took before they grew.
Proposal propose_first(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  if (!find_step_trend(rule_context(predictor)).grows())
    return not_here("steps do not take longer and longer");
  const std::size_t early = std::max<std::size_t>(1, steps.size() / kTrendParts);
  std::vector<const MarkedStep*> first;
  for (std::size_t i = 0; i < early; ++i) first.push_back(&steps[i]);
  const Times often = usual_times(predictor, first);
  Editor editor(predictor);
  for (std::size_t i = early; i < steps.size(); ++i) limit_to(predictor, steps[i], often, editor);
  return {true,
          fmt::format("all {} steps take for each kind of work what the first {} take",
                      steps.size(), early),
          editor.take()};
}

Proposal propose(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  if (steps.size() < kLeastSteps)
    return not_here(fmt::format("{} steady steps are too few to tell what is usual", steps.size()));
  std::vector<double> lengths;
  for (const MarkedStep& step : steps)
    lengths.push_back(static_cast<double>(predictor.recorded(step).length().ns));
  const double limit = outlier_limit(lengths);
  std::vector<const MarkedStep*> usual;
  std::vector<const MarkedStep*> outliers;
  for (std::size_t i = 0; i < steps.size(); ++i)
    (lengths[i] > limit ? outliers : usual).push_back(&steps[i]);
  if (outliers.empty()) return not_here("no step takes far longer than the others");
  const Times often = usual_times(predictor, usual);
  Editor editor(predictor);
  for (const MarkedStep* step : outliers) limit_to(predictor, *step, often, editor);
  return {true,
          fmt::format("{} of {} steps take for each kind of work what a usual step takes",
                      outliers.size(), steps.size()),
          editor.take()};
}

}  // namespace

const Fix kUsualSteps{
    "usual-steps",
    "Keep what slows single steps down out of them",
    "step-outlier",
    FixKind::kCeiling,
    0.1,
    "",
    "In steps beyond median + max(5 MAD, 10 %), each op, call and kind of host work takes in sum "
    "what it takes in the median of the other steps. The gain is that of the mean step.",
    "whether what takes so long there can be left out, made faster or done beside training",
    propose};

const Fix kStepsAsAtFirst{
    "steps-as-at-first",
    "Keep what a step works on from growing",
    "step-growth",
    FixKind::kCeiling,
    0.1,
    "",
    "In all steps, each op, call and kind of host work takes in sum at most what it takes in the "
    "median of the first twelfth of them.",
    "whether the program needs what has grown",
    propose_first};

}  // namespace headway::analyzer
