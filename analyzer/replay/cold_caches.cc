// SPDX-License-Identifier: MIT
#include "analyzer/replay/cold_caches.h"

#include <algorithm>
#include <cmath>

#include "analyzer/replay/host_time.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// After a wait of 1 ms a step of PyTorch takes 5 % longer, after 10 ms 32 %, after 30 ms 76 %.
constexpr double kPerMs = 0.05;
constexpr double kPower = 0.8;
/// The caches that a step uses are filled again in at most this time.
constexpr double kMostNs = 3e6;

double batches_of_step(const Trace& trace, ThreadId thread, Interval window, double steps) {
  double waits = 0;
  for (const RangeId range : trace.ranges_of_thread[thread]) {
    const RangeInfo* info = trace.info(range);
    waits += info && info->kind == RangeKind::kInputWait &&
             window.contains(trace.ranges.start[range.value]);
  }
  return std::max(1.0, waits / steps);
}

}  // namespace

ColdCaches::ColdCaches(const Program& program, const std::vector<Part>& parts,
                       const Analysis& analysis, const MarkedSteps& steps) {
  if (steps.steps.empty() || !analysis.program.uses(Framework::kPyTorch) ||
      analysis.partitions[steps.partition].device.valid())
    return;
  const Trace& trace = program.graph().points().trace();
  const ThreadId trains = analysis.steps.all[steps.steps.front().step].thread;
  const Interval window{program.recorded(steps.steps.front().begin.slot),
                        program.recorded(steps.steps.back().end.slot)};
  for_each_host_time(program, [&](ThreadId thread, Interval where, const Constraint& constraint) {
    if (thread != trains || !window.contains(where.begin)) return;
    if (parts[constraint.part.value].time_class != TimeClass::kIoRead)
      computing_.push_back(
          {constraint.id, constraint.part, static_cast<double>(constraint.lag.ns)});
  });
  std::ranges::sort(computing_, {}, &Own::constraint);
  steps_ = static_cast<double>(steps.steps.size());
  batches_ = batches_of_step(trace, trains, window, steps_);
  recorded_ = computed({});
}

double ColdCaches::computed(const Scenario& scenario) const {
  double ns = 0;
  auto edit = scenario.edits.begin();
  for (const Own& own : computing_) {
    while (edit != scenario.edits.end() && edit->constraint < own.constraint) ++edit;
    if (edit != scenario.edits.end() && edit->constraint == own.constraint)
      ns += edit->lag == Edit::kRemoved ? 0.0 : static_cast<double>(edit->lag);
    else
      ns += own.part.value < scenario.factor.size() ? own.ns * scenario.factor[own.part.value]
                                                    : own.ns;
  }
  return ns / steps_;
}

double ColdCaches::slower(double waits, double computes, double counts) const {
  const double ms = std::max(0.0, waits) / batches_ / 1e6;
  const double by = counts * kPerMs * std::pow(ms, kPower);
  const double most = counts * kMostNs * batches_;
  // Relative to the time with warm caches, which is `computes` less `most`.
  return computes - most > 0 ? std::min(1 + by, computes / (computes - most)) : 1 + by;
}

double ColdCaches::change(const Scenario& scenario, double length, double recorded,
                          double counts) const {
  if (!known()) return 0;
  const double now = computed(scenario);
  const double was = slower(recorded - recorded_, now, counts);
  return now / was * slower(length - now, now, counts) - now;
}

}  // namespace headway::analyzer
