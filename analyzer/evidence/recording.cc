// SPDX-License-Identifier: MIT
#include "analyzer/evidence/recording.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

bool launches(DeviceCallKind kind) {
  return kind == DeviceCallKind::kLaunch || kind == DeviceCallKind::kCopy ||
         kind == DeviceCallKind::kMemset;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

bool is_about_recording(std::string_view rule) {
  return rule == "graph-capture" || rule == "unrecorded-device-work";
}

GraphCapture find_graph_capture(const Trace& trace) {
  GraphCapture result;
  const Calls& calls = trace.calls;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    std::optional<TimeNs> begun;
    auto close = [&](TimeNs end) {
      result.captures.push_back({*begun, end});
      result.time += end - *begun;
      begun.reset();
    };
    for (CallId call : trace.calls_of_thread[ThreadId{t}]) {
      const std::string_view name = trace.strings[calls.name[call.value]];
      if (contains(name, "StreamBeginCapture")) begun = calls.start[call.value];
      if (contains(name, "StreamEndCapture") && begun) close(calls.end[call.value]);
      if (!launches(calls.kind[call.value])) continue;
      result.captured += begun && !calls.op[call.value].valid();
    }
    if (begun) close(trace.end);
  }
  result.launches = static_cast<std::int64_t>(trace.device_ops.size()) + result.captured;
  std::sort(result.captures.begin(), result.captures.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return result;
}

bool is_capture(const GraphCapture& capture) {
  return capture.captured * 2 > capture.launches;
}

void withdraw_findings(std::vector<Finding>& findings, const GraphCapture& capture) {
  if (!is_capture(capture)) return;
  for (Finding& finding : findings) {
    if (finding.status != Status::kFound || is_about_recording(finding.rule)) continue;
    Finding unknown;
    unknown.rule = finding.rule;
    unknown.title = finding.title;
    unknown.status = Status::kCannotTell;
    unknown.claim = "The recording shows a graph capture: the captured work did not run.";
    finding = std::move(unknown);
  }
}

}  // namespace headway::analyzer
