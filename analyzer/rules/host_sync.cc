// SPDX-License-Identifier: MIT
// host-sync: the host waits for the device and thereby starves it.
//
// Symptom: blocking calls inside the step (item(), synchronous copies, synchronisation after every
// op) with the
//   device idle around their end.
// Mechanism: while the host is blocked it launches nothing; when the device has drained its queue,
// it idles until
//   the host has returned, prepared and launched the next op.
// Formula: recoverable = host_sync: idle device time while the host is blocked, plus the refill up
// to the next
//   launch. The duration of the call itself is not counted: a call that waits while the device
//   works costs nothing.
// Falsified by: blocking calls that return before the queue is empty (bounding how far the host
// runs ahead). Known false positives: none known; the recoverable time assumes that the host could
// have launched in time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/rules/registry.h"
#include "analyzer/rules/support.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kCall)
    return "the host refills the queue it had drained";
  trace::CallId call{segment.cause.index};
  trace::RangeId range = innermost_range(context.trace, context.trace.calls.thread[call.value],
                                         context.trace.calls.start[call.value]);
  std::string text(name_of(context.trace, segment.cause));
  if (!trace::is_blocking(context.trace.calls.kind[call.value]))
    text = fmt::format("{} refills the queue after a wait", text);
  return range.valid() ? fmt::format("{} in '{}'", text,
                                     context.trace.strings[context.trace.ranges.name[range.value]])
                       : text;
}

/// Blocking calls per steady step.
double blocking_calls_per_step(const RuleContext& context) {
  std::int64_t count = 0;
  const trace::Calls& calls = context.trace.calls;
  for (std::uint32_t index : context.steps.steady) {
    const Step& step = context.steps.all[index];
    auto of_thread = context.trace.calls_of_thread[step.thread];
    auto it = std::partition_point(of_thread.begin(), of_thread.end(), [&](trace::CallId c) {
      return calls.start[c.value] < step.host.begin;
    });
    for (; it != of_thread.end() && calls.start[it->value] < step.host.end; ++it)
      count += trace::is_blocking(calls.kind[it->value]);
  }
  return context.steps.steady.empty()
             ? 0
             : static_cast<double>(count) / static_cast<double>(context.steps.steady.size());
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare sync = worst_share(context, {TimeClass::kHostSync});
  if (!sync.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no API calls; record with CUDA calls enabled.");
  double per_step = blocking_calls_per_step(context);
  if (sync.share() < kFindingShare) {
    return fine(rule, fmt::format("{:.1f} blocking calls per step leave the device idle for {}.",
                                  per_step, of_step(sync.time, sync.step)));
  }
  Finding finding = found(rule, sync.time, context);
  finding.sub_cause = per_step > 10 ? "per-op" : "per-step";
  finding.claim = fmt::format(
      "{:.1f} blocking calls per step drain the device's queue; it idles {} until the host has "
      "launched again.",
      per_step, of_step(sync.time, sync.step));
  finding.confidence = 0.9;
  finding.evidence = longest_segments(context, *sync.device, {TimeClass::kHostSync}, note);
  finding.advice = {
      {"headway-train", "Do not wait after every op; read the loss once in a while.",
       "--sync never --loss-read 20",
       fmt::format("{} {}", setting(context.trace, "sync"), setting(context.trace, "loss_read"))},
      {"PyTorch",
       "Find the calls with torch.cuda.set_sync_debug_mode('warn'); keep losses on the device and "
       "read them every n steps.",
       "loss.detach() instead of loss.item(); non_blocking=True; no print(tensor), no .cpu() in "
       "the loop",
       ""},
      {"TensorFlow/JAX", "Keep metrics on the device; fetch them every n steps.",
       "jax.block_until_ready / float(x) only when logging", ""}};
  return finding;
}

}  // namespace

extern const Rule kHostSync = {"host-sync", "Host synchronisation",
                               "Idle device time caused by blocking calls, over 5 % of the step.",
                               check};

}  // namespace headway::analyzer
