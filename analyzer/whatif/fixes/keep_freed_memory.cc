// SPDX-License-Identifier: MIT
// The C library keeps freed memory, so the training thread has no page faults.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/evidence/page_faults.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/host_time.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kWorthIt = 0.002;  ///< of the step
/// Largest share of the thread's compute time that is taken to be page faults.
constexpr double kMostOfWork = 0.9;

/// Compute time of `thread` in marked steps, ns by part. Reads are left out, because they wait for
/// other reasons.
std::vector<double> work_of(const Predictor& predictor, ThreadId thread, Interval window) {
  std::vector<double> work(predictor.parts().size());
  for_each_host_time(predictor, [&](ThreadId one, Interval where, const Constraint& constraint) {
    if (one != thread || !window.contains(where.begin)) return;
    const PartId part = constraint.part;
    if (predictor.parts()[part.value].kind != Part::Kind::kHost ||
        predictor.parts()[part.value].time_class == TimeClass::kIoRead)
      return;
    work[part.value] += static_cast<double>(constraint.lag.ns);
  });
  return work;
}

Scenario shortened(const std::vector<double>& work, double by) {
  Scenario scenario;
  for (std::size_t p = 0; p < work.size(); ++p)
    if (work[p] > 0) scenario.scale(PartId::from(p), 1 - std::min(kMostOfWork, by));
  return scenario;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const MarkedSteps& marked = predictor.steps();
  const std::vector<Step>& steps = predictor.analysis().steps.all;
  if (marked.steps.empty() || steps.empty()) return not_here("no step is steady");
  const ThreadId thread = steps[marked.steps.front().step].thread;
  const std::optional<PageFaults> faults =
      page_faults_of(trace, trace.processes[trace.threads[thread.value].process.value]);
  if (!faults) return not_here("page faults of the training thread were not counted");
  if (!faults->libc_returns)
    return not_here("the C library already keeps freed memory, or another library allocates");
  const Interval window{predictor.program().recorded(marked.steps.front().begin.slot),
                        predictor.program().recorded(marked.steps.back().end.slot)};
  const std::vector<double> work = work_of(predictor, thread, window);
  double all = 0;
  for (const double one : work) all += one;
  const double per_step = all / static_cast<double>(marked.steps.size());
  const double time = static_cast<double>(faults->time.ns);
  if (per_step <= 0 || time < kWorthIt * static_cast<double>(window.length().ns) /
                                  static_cast<double>(marked.steps.size()))
    return not_here("hardly any page faults in a step");
  const double by = time / per_step;
  Proposal proposal{true,
                    fmt::format("the training thread has no page faults, {} in each step now",
                                format_count(std::llround(faults->per_step))),
                    shortened(work, by)};
  for (const double share : {kLeastOfFaultTime, kMostOfFaultTime})
    proposal.otherwise.push_back(shortened(work, share * by));
  return proposal;
}

}  // namespace

const Fix kKeepFreedMemory{"keep-freed-memory",
                           "Keep freed memory in the process",
                           "page-faults",
                           FixKind::kModelled,
                           0.1,
                           "",
                           "The training thread computes for a shorter time: less the page faults "
                           "of a step, each with its measured time × 1.25. The interval has 0.7 to "
                           "1.35 times that.",
                           "memory that the process holds for longer, and faults of mapped files",
                           propose};

}  // namespace headway::analyzer
