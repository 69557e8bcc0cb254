// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "trace/trace.h"

/// Facts about the recording itself, not about the program.
namespace headway::analyzer {

/// True for rules about the recording. No fix gains their time, but they decide whether other findings can be trusted.
bool is_about_recording(std::string_view rule);

/// Work that was captured into a CUDA graph instead of being run.
struct GraphCapture {
  std::vector<Interval> captures;  ///< by start, per capturing thread
  std::int64_t launches = 0;       ///< `captured` plus all ops that ran on a device
  std::int64_t captured = 0;       ///< launch calls inside a capture, without a device op
  DurationNs time;                 ///< total duration of the captures
  double share() const {
    return launches ? static_cast<double>(captured) / static_cast<double>(launches) : 0;
  }
};
/// Found by the calls that begin and end a capture; one without an end reaches to the end of the trace.
GraphCapture find_graph_capture(const trace::Trace& trace);

/// True if more than half of the launches were captured, so that no step was recorded.
bool is_capture(const GraphCapture& capture);

/// In the recording of a capture, withdraws all findings about the program.
void withdraw_findings(std::vector<Finding>& findings, const GraphCapture& capture);

}  // namespace headway::analyzer
