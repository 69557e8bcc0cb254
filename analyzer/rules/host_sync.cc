// SPDX-License-Identifier: MIT
// host-sync: blocking calls of the host leave the device without work.
//
// Symptom: blocking calls inside the step (item(), is_nonzero, nonzero, copies to the host, synchronisation
//   after every op) with the device idle around their end.
// Mechanism: a blocked host launches nothing. After the device drains its queue, it idles until
//   the host returns, prepares and launches the next op.
// Formula: recoverable = host_sync: idle device time while the host is blocked, plus the refill
//   until the next launch. The call's duration does not count: waiting for a busy device costs
//   nothing.
// Falsified by: blocking calls that return before the queue is empty (they bound how far the host
//   runs ahead).
// Known false positives: the recoverable time assumes that the host could have launched in time.
// Source: asynchronous execution and engine bulking in the frameworks exist for this.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// "aten::item, op_id = 12" -> "aten::item": annotations append arguments.
std::string_view plain(std::string_view name) {
  return name.substr(0, name.find(','));
}

/// The framework's op that made the call: of the nested ops around it whose last work is the call
/// (is_nonzero > item > _local_scalar_dense), the outermost; else the innermost range. Empty if
/// there is none.
std::string_view op_around(const trace::Trace& trace, trace::CallId call) {
  auto name = [&](trace::RangeId range) {
    return plain(trace.strings[trace.ranges.name[range.value]]);
  };
  trace::RangeId range =
      innermost_range(trace, trace.calls.thread[call.value], trace.calls.start[call.value]);
  if (!range.valid()) return {};
  std::string_view op = name(range);
  while (range.valid() && name(range).starts_with("aten::")) {
    op = name(range);
    range = trace.ranges.parent[range.value];
  }
  return op;
}

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kCall) return "the host refills the drained queue";
  trace::CallId call{segment.cause.index};
  std::string text(name_of(context.trace, segment.cause));
  if (!trace::is_blocking(context.trace.calls.kind[call.value]))
    text = fmt::format("{} refills the queue after a wait", text);
  std::string_view op = op_around(context.trace, call);
  return op.empty() ? text : fmt::format("{} in '{}'", text, op);
}

struct Culprit {
  std::string op;
  double share = 0;  ///< of the host-sync time whose call is known
};

/// The op or call in which most of the lost time begins; the refill counts for the wait before it.
Culprit main_culprit(const RuleContext& context, const DevicePartition& device) {
  std::map<std::string, DurationNs, std::less<>> by_op;
  DurationNs all;
  std::string current;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kHostSync) continue;
      bool call = segment.cause.kind == EventRef::Kind::kCall;
      if (call && trace::is_blocking(context.trace.calls.kind[segment.cause.index])) {
        std::string_view op = op_around(context.trace, trace::CallId{segment.cause.index});
        current = op.empty() ? name_of(context.trace, segment.cause) : op;
      }
      if (!current.empty()) by_op[current] += segment.interval.length();
      all += segment.interval.length();
    }
  }
  Culprit worst;
  for (const auto& [op, time] : by_op) {
    if (ratio(time, all) > worst.share) worst = {op, ratio(time, all)};
  }
  return worst;
}

/// Blocking calls of all threads per steady step; in the whole trace if it has no steps.
double blocking_calls(const RuleContext& context) {
  const trace::Calls& calls = context.trace.calls;
  auto count_in = [&](Interval window) {
    auto it = std::lower_bound(calls.start.begin(), calls.start.end(), window.begin);
    std::int64_t count = 0;
    for (auto i = static_cast<std::size_t>(it - calls.start.begin());
         i < calls.size() && calls.start[i] < window.end; ++i) {
      count += trace::is_blocking(calls.kind[i]);
    }
    return static_cast<double>(count);
  };
  if (context.steps.all.empty()) return count_in({TimeNs::min(), TimeNs::max()});
  double count = 0;
  for (std::uint32_t index : context.steps.steady) count += count_in(context.steps.all[index].host);
  return context.steps.steady.empty() ? 0
                                      : count / static_cast<double>(context.steps.steady.size());
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare sync = worst_share(context, {TimeClass::kHostSync});
  if (!sync.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no API calls; record with CUDA calls enabled.");
  double count = blocking_calls(context);
  if (sync.share() < kFindingShare) {
    return fine(rule, fmt::format("Idle after blocking calls: {2} ({0:.1f} calls {1}).", count,
                                  per_step(context), of_step(context, sync.time, sync.step)));
  }
  Finding finding = found(rule, sync.time, context);
  finding.sub_cause = count > 10 ? "per-op" : "per-step";
  finding.claim = fmt::format(
      "{:.1f} blocking calls {} drain the device queue; the device then idles {} until the next "
      "launch.",
      count, per_step(context), of_step(context, sync.time, sync.step));
  if (Culprit culprit = main_culprit(context, *sync.device); !culprit.op.empty())
    finding.claim +=
        fmt::format(" {} of it comes from '{}'.", format_percent(culprit.share), culprit.op);
  finding.confidence = 0.9;
  finding.evidence = longest_segments(context, *sync.device, {TimeClass::kHostSync}, note);
  finding.advice = {
      {"headway-train", "Do not wait after every op; read the loss every few steps.",
       "--sync never --loss-read deferred", settings(context.trace, {"sync", "loss_read"})},
      {"PyTorch",
       "Find the calls with torch.cuda.set_sync_debug_mode('warn'). Keep losses on the device and "
       "read them every n steps.",
       "loss.detach() instead of loss.item(); non_blocking=True; no print(tensor), no .cpu() in "
       "the loop",
       ""},
      {"TensorFlow/JAX", "Keep metrics on the device and fetch them every n steps.",
       "jax.block_until_ready / float(x) only when logging", ""}};
  return finding;
}

}  // namespace

extern const Rule kHostSync = {"host-sync", "Host synchronisation",
                               "Blocking calls keep the device idle for over 5 % of the step.",
                               check};

}  // namespace headway::analyzer
