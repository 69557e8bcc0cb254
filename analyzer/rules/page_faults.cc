// SPDX-License-Identifier: MIT
// page-faults: the training thread fetches its memory from the system again in each step.
//
// Symptom: steps on the processor have hundreds of page faults each, and differ from run to run by a third.
// Mechanism: tensors that a step frees go back to the system: single ones above 128 KB, and the top of the heap once it is
//   larger than a limit. The next step's tensors are then mapped anew, and each page is cleared at its first use.
// Formula: recoverable = page faults of the training thread per step × what one takes here × 1.25. The PyTorch
//   hook counts the faults and measures what 256 of them take; between products they take 1.1 to 1.4 times as long. Fires
//   from 5 % of the step.
// Falsified by: device work that hides the host's (then the replay's gain is small).
// Known false positives: pages of files that are mapped, or of memory that grows from step to step.
// Source: the manual page of mallopt, M_TRIM_THRESHOLD and M_MMAP_THRESHOLD; PyTorch's tuning guide, which has the program use another allocator.
#include "analyzer/evidence/page_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Worst {
  PageFaults faults;
  trace::ThreadId thread;
};

std::optional<Worst> worst_of(const RuleContext& context) {
  std::optional<Worst> worst;
  trace::ThreadId seen;
  for (const Step& step : context.steps.all) {
    if (step.thread == seen) continue;
    seen = step.thread;
    const trace::Trace& trace = context.trace;
    const std::optional<PageFaults> faults =
        page_faults_of(trace, trace.processes[trace.threads[seen.value].process.value]);
    if (faults && (!worst || faults->time > worst->faults.time)) worst = {*faults, seen};
  }
  return worst;
}

std::vector<Evidence> evidence_of(const RuleContext& context, trace::ThreadId thread) {
  constexpr std::size_t kMost = 3;
  std::vector<const Step*> steps;
  for (const Step& step : context.steps.all)
    if (step.thread == thread && step.steady) steps.push_back(&step);
  std::vector<Evidence> list;
  for (std::size_t i = 0; i < std::min(kMost, steps.size()); ++i) {
    const Step& step = *steps[i * steps.size() / kMost];
    list.push_back({step.host, step.range.valid() ? EventRef::of(step.range) : EventRef{},
                    fmt::format("step {}", step.number)});
  }
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  const std::optional<Worst> worst = worst_of(context);
  if (!worst)
    return cannot_tell(rule,
                       "Page faults of the training thread were not counted: record with the "
                       "Python hook.");
  const PageFaults& faults = worst->faults;
  if (faults.time.ns == 0)  // too few for the hook to measure their time
    return fine(rule, fmt::format("Page faults: {} in each step.",
                                  format_count(std::llround(faults.per_step))));
  const std::string time = of_step(context, faults.time, context.step);
  const std::string count =
      fmt::format("{} page faults in each step", format_count(std::llround(faults.per_step)));
  if (ratio(faults.time, context.step) < kFindingShare)
    return fine(rule, fmt::format("{} take {}.", count, time));
  Finding finding = found(rule, faults.time, context);
  finding.claim = fmt::format(
      "Memory that a step frees goes back to the system, and the next step fetches it again: {} "
      "take {}.",
      count, time);
  finding.confidence = faults.libc_returns ? 0.85 : 0.6;
  finding.evidence = evidence_of(context, worst->thread);
  finding.advice = {
      {"PyTorch",
       faults.libc_returns
           ? "Let the C library keep freed memory. The process then stays as large as it ever was."
           : "Let the allocator keep freed memory for longer, or use tensors again.",
       faults.libc_returns ? "MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_MAX_=0 python3 train.py"
                           : "jemalloc: MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1",
       ""}};
  if (faults.libc_returns)
    finding.advice.push_back(
        {"TensorFlow/JAX", finding.advice.front().text, finding.advice.front().knob, ""});
  return finding;
}

}  // namespace

extern const Rule kPageFaults = {"page-faults", "Page faults",
                                 "The training thread's page faults take over 5 % of the step.",
                                 check};

}  // namespace headway::analyzer
