// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/steps/steps.h"
#include "cli/live/figures.h"
#include "trace/trace.h"

namespace headway::cli::live {

/// Fills in the figures of a stretch of a run: the step cost and its time classes, per rank,
/// samples, use of the machine, dropped events. Does not fill in the cause or the figures of the
/// whole run. `rank`: whose steps to show; -1: those of the slowest. Much cheaper than an analysis.
void measure(const trace::Trace& trace, const analyzer::Steps& steps,
             const analyzer::RangeNames& names, std::int32_t rank, Figures& figures);

/// Events that the recorder could not record.
std::int64_t dropped_events(const trace::Trace& trace);

/// Runs the report's rules on the stretch. Consumes the trace.
Cause find_cause(trace::Trace trace, const analyzer::StepOptions& options, std::int32_t& rank);

}  // namespace headway::cli::live
