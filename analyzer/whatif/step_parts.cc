// SPDX-License-Identifier: MIT
#include "analyzer/whatif/step_parts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/whatif/host_time.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Largest number of steps from which medians are taken.
constexpr std::size_t kMostCompared = 101;

}  // namespace

StepParts::StepParts(const Predictor& predictor)
    : predictor_(predictor), of_workers_(predictor.program().size()) {
  const Points& points = predictor.program().graph().points();
  std::set<trace::ThreadId> workers;
  for (const Loader& loader : find_loaders(points))
    if (has_workers(points, loader)) workers.merge(workers_of(points, loader));
  for_each_host_slot(predictor.program(), [&](trace::ThreadId thread, Slot slot) {
    of_workers_[slot.value] = workers.contains(thread);
  });
}

/// Calls `visit(part, constraint)` for the constraints of a step that can be changed. Slots are in
/// order of time.
template <class Visit>
void StepParts::for_each_in(const MarkedStep& step, Visit visit) const {
  for (std::uint32_t s = step.begin.slot.value + 1; s <= step.end.slot.value; ++s) {
    const std::size_t offset = of_workers_[s] ? predictor_.parts().size() : 0;
    predictor_.program().for_each(Slot{s}, [&](const Constraint& constraint) {
      if (predictor_.parts()[constraint.part.value].kind != Part::Kind::kFixed &&
          constraint.lag.ns > 0)
        visit(offset + constraint.part.value, constraint);
    });
  }
}

StepParts::Times StepParts::times_of(const MarkedStep& step) const {
  Times times(2 * predictor_.parts().size());
  for_each_in(step, [&](std::size_t part, const Constraint& constraint) {
    times[part].time += static_cast<double>(constraint.lag.ns);
    ++times[part].pieces;
  });
  return times;
}

StepParts::Times StepParts::usual(const std::vector<const MarkedStep*>& steps) const {
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

void StepParts::limit_to(const MarkedStep& step, const Times& often, Editor& editor) const {
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

void StepParts::scale(const MarkedStep& step, const Times& now, const Times& then,
                      Editor& editor) const {
  for_each_in(step, [&](std::size_t part, const Constraint& constraint) {
    if (predictor_.parts()[constraint.part.value].time_class == TimeClass::kBetweenSteps) return;
    if (now[part].time <= 0 || then[part].time <= 0) return;
    const double left = static_cast<double>(constraint.lag.ns) * then[part].time / now[part].time;
    editor.set_lag(constraint.id, {std::llround(left)}, false);
  });
}

}  // namespace headway::analyzer
