// SPDX-License-Identifier: MIT
// Steps that take far longer than the others become like those: what each kind of work takes there is what it takes in the
// step in the middle. The same for steps that grow: they stay as the first ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/step_trend.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 10;  ///< as the rule
/// So many usual steps tell what is usual.
constexpr std::size_t kMostCompared = 101;

/// What a part takes of a step.
struct Taken {
  double time = 0;
  double pieces = 0;
};
using Times = std::vector<Taken>;

/// Compares steps part by part. Workers make more batches beside a longer step, so what they do counts by the piece.
class ByPart {
 public:
  explicit ByPart(const Predictor& predictor)
      : predictor_(predictor), of_workers_(predictor.program().size()) {
    const Points& points = predictor.program().graph().points();
    std::set<trace::ThreadId> workers;
    for (const Loader& loader : find_loaders(points))
      if (has_workers(points, loader)) workers.merge(workers_of(points, loader));
    for_each_host_slot(predictor.program(), [&](trace::ThreadId thread, Slot slot) {
      of_workers_[slot.value] = workers.contains(thread);
    });
  }

  Times usual(const std::vector<const MarkedStep*>& steps) const {
    std::vector<Times> all;
    const std::size_t stride = (steps.size() + kMostCompared - 1) / kMostCompared;
    for (std::size_t i = 0; i < steps.size(); i += stride) all.push_back(times_of(*steps[i]));
    Times result(2 * predictor_.parts().size());
    std::vector<double> of_part(all.size());
    for (std::size_t part = 0; part < result.size(); ++part) {
      auto middle = [&](double Taken::*what) {
        for (std::size_t i = 0; i < all.size(); ++i) of_part[i] = all[i][part].*what;
        return median(of_part);
      };
      result[part] = {middle(&Taken::time), middle(&Taken::pieces)};
    }
    return result;
  }

  /// Each part of a step takes what it takes in `often` at most.
  void limit_to(const MarkedStep& step, const Times& often, Editor& editor) const {
    const Times here = times_of(step);
    for_each_in(step, [&](std::size_t part, const Constraint& constraint) {
      double most = often[part].time;
      if (part >= predictor_.parts().size())
        most *= here[part].pieces / std::max(1.0, often[part].pieces);
      if (here[part].time <= most) return;
      const double left = static_cast<double>(constraint.lag.ns) * most / here[part].time;
      editor.set_lag(constraint.id, {std::llround(left)});
    });
  }

 private:
  /// Calls `visit` with what is in a step's time and can be changed. Slots are in the order of time.
  template <class Visit>
  void for_each_in(const MarkedStep& step, Visit visit) const {
    for (std::uint32_t s = step.begin.slot.value + 1; s <= step.end.slot.value; ++s) {
      const std::size_t offset = of_workers_[s] ? predictor_.parts().size() : 0;
      predictor_.program().for_each(Slot{s}, [&](const Constraint& constraint) {
        if (predictor_.parts()[constraint.part.value].kind != Part::Kind::kFixed &&
            constraint.lag.ns > 0)
          visit(offset + constraint.part.value, constraint);
      });
    }
  }

  Times times_of(const MarkedStep& step) const {
    Times times(2 * predictor_.parts().size());
    for_each_in(step, [&](std::size_t part, const Constraint& constraint) {
      times[part].time += static_cast<double>(constraint.lag.ns);
      ++times[part].pieces;
    });
    return times;
  }

  const Predictor& predictor_;
  std::vector<bool> of_workers_;  ///< by slot
};

/// The first quarter of the steps tells what they took before they grew.
Proposal propose_first(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  const RuleContext context = rule_context(predictor);
  const StepTrend trend = find_step_trend(context);
  if (!trend.grows()) return not_here("step time does not grow");
  const TimeClass grown = what_grew(context, *trend.partition).time_class;
  // Even the first steps computed all tokens before theirs.
  if (context.program.is_inference() &&
      (grown == TimeClass::kComputeTensor || grown == TimeClass::kComputeOther))
    return not_here("compute of an inference grows: see keep-keys-and-values");
  const std::size_t early = std::max<std::size_t>(1, steps.size() / kTrendParts);
  std::vector<const MarkedStep*> first;
  for (std::size_t i = 0; i < early; ++i) first.push_back(&steps[i]);
  const ByPart by_part(predictor);
  const Times often = by_part.usual(first);
  Editor editor(predictor);
  for (std::size_t i = early; i < steps.size(); ++i) by_part.limit_to(steps[i], often, editor);
  return {true,
          fmt::format("all {} steps take the time of the first {} for each kind of work",
                      steps.size(), early),
          editor.take()};
}

Proposal propose(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  if (steps.size() < kLeastSteps)
    return not_here(
        fmt::format("{} steady steps are too few to define a usual step", steps.size()));
  std::vector<double> lengths;
  for (const MarkedStep& step : steps)
    lengths.push_back(static_cast<double>(predictor.recorded(step).length().ns));
  const double limit = outlier_limit(lengths);
  std::vector<const MarkedStep*> usual;
  std::vector<const MarkedStep*> outliers;
  for (std::size_t i = 0; i < steps.size(); ++i)
    (lengths[i] > limit ? outliers : usual).push_back(&steps[i]);
  if (outliers.empty()) return not_here("no step is far slower than the others");
  const ByPart by_part(predictor);
  const Times often = by_part.usual(usual);
  Editor editor(predictor);
  for (const MarkedStep* step : outliers) by_part.limit_to(*step, often, editor);
  return {true,
          fmt::format("{} of {} steps take a usual step's time for each kind of work",
                      outliers.size(), steps.size()),
          editor.take()};
}

}  // namespace

const Fix kUsualSteps{
    "usual-steps",
    "Remove the causes of slow single steps",
    "step-outlier",
    FixKind::kCeiling,
    0.1,
    "",
    "In steps beyond median + max(5 MAD, 10 %), each op, call and kind of host work takes its "
    "median total over the other steps. Loader work counts per batch, since workers make more "
    "batches during a longer step. The gain refers to the mean step.",
    "whether this work can be dropped, sped up or moved off the step",
    propose};

const Fix kStepsAsAtFirst{"steps-as-at-first",
                          "Stop step-to-step growth",
                          "step-growth",
                          FixKind::kCeiling,
                          0.1,
                          "",
                          "In all steps, each op, call and kind of host work takes at most its "
                          "median total over the first twelfth of the steps.",
                          "whether the program needs the growing data",
                          propose_first};

}  // namespace headway::analyzer
