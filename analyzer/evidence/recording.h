// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "trace/trace.h"

/// What a recording shows of the recording rather than of the program.
namespace headway::analyzer {

/// True for rules that tell of the recording: their time is nothing that a fix gains, but it has to be
/// known before any other finding is believed.
bool is_about_recording(std::string_view rule);

/// Work that was captured into a CUDA graph instead of being run.
struct GraphCapture {
  std::vector<Interval> captures;  ///< by start, per capturing thread
  std::int64_t launches =
      0;  ///< ops that ran on a device, by whatever launched them, and `captured`
  std::int64_t captured = 0;  ///< calls that launch, inside a capture and with no op on a device
  DurationNs time;            ///< of the captures
  double share() const {
    return launches ? static_cast<double>(captured) / static_cast<double>(launches) : 0;
  }
};
/// From the calls that begin and end a capture; one that was cut reaches to the end of the trace.
GraphCapture find_graph_capture(const trace::Trace& trace);

/// More than half of what was launched was captured: then nothing of a step was recorded.
bool is_capture(const GraphCapture& capture);

/// What a finding says where the recording is one of a capture: nothing.
void set_aside(std::vector<Finding>& findings, const GraphCapture& capture);

}  // namespace headway::analyzer
