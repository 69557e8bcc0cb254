// SPDX-License-Identifier: MIT
// unrecorded-device-work: the device is busy with work missing from the recording.
//
// Symptom: the device seems idle although an op is queued or the host waits for it.
// Mechanism: work that began earlier than the recording, runs in another process, or uses an
//   excluded stream occupies the queue. The recording shows only its effect.
// Formula: unknown time before an op launched long before, and in calls that wait although all
//   recorded work has ended, beyond five medians of the launch latency or of the return from a
//   wait. No fix gains anything: figures exclude this time.
// Falsified by: ops in this time in a recording that begins earlier or covers all processes.
// Known false positives: a device leaving a low-power state; waits for another device by means
//   missing from the trace.
// Source: recordings that begin in the middle of a run of an inference engine.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

bool unrecorded(const RuleContext& context, const Segment& segment) {
  if (segment.time_class != TimeClass::kUnknown || segment.cause.kind != EventRef::Kind::kCall)
    return false;
  return context.trace.calls.start[segment.cause.index] <= segment.interval.begin;
}

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kCall) return "nothing is recorded";
  const trace::DeviceOpId op = context.trace.calls.op[segment.cause.index];
  const std::string_view call = name_of(context.trace, segment.cause);
  if (trace::is_blocking(context.trace.calls.kind[segment.cause.index]) || !op.valid())
    return fmt::format("{} waits, but no device work is recorded", call);
  return fmt::format("'{}' is queued, but no device work is recorded",
                     name_of(context.trace, EventRef::of(op)));
}

Finding check(const Rule& rule, const RuleContext& context) {
  const DevicePartition* worst = nullptr;
  DurationNs time;
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || !device.device.valid()) continue;
    // Threads of a host device can be descheduled, and all their work is recorded.
    if (context.trace.devices[device.device.value].type == trace::DeviceType::kHost) continue;
    DurationNs here;
    for (const DeviceStep& step : device.steps) {
      if (!counts(context.steps, step)) continue;
      for (std::uint32_t i = 0; i < step.segment_count; ++i) {
        const Segment& segment = device.segments[step.first_segment + i];
        if (unrecorded(context, segment)) here += segment.interval.length();
      }
    }
    here = here / device.steady_steps;
    if (!worst || here > time) {
      worst = &device;
      time = here;
    }
  }
  if (!worst) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no launch calls, so queued work is unknown.");
  const DurationNs step = worst->per_steady_step.total();
  if (ratio(time, step) < kFindingShare)
    return fine(rule, fmt::format("Queued work without recorded device work: {}.",
                                  of_step(context, time, step)));
  Finding finding = found(rule, time, context);
  finding.claim = fmt::format(
      "Work is queued or awaited, but the device shows nothing for {}: the recording misses what "
      "ran. The program loses no time here, but other figures are shares of a step that includes "
      "it.",
      of_step(context, time, step));
  finding.confidence = 0.8;
  finding.evidence = longest_segments(context, *worst, {TimeClass::kUnknown}, note);
  return finding;
}

}  // namespace

extern const Rule kUnrecordedDeviceWork = {
    "unrecorded-device-work",
    "Device work missing from the recording",
    "Queued or awaited work is missing from the recording for over 5 % of the step.",
    check,
    false,
    "this is a gap in the recording, not a loss of the program"};

}  // namespace headway::analyzer
