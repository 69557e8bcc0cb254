// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/steps/steps.h"
#include "cli/live/figures.h"
#include "trace/trace.h"

namespace headway::cli::live {

/// Fills in what a stretch of a run says: the cost of its steps and what they are spent on, per rank,
/// samples, use of the machine, what was dropped. Not: causes, and what refers to the whole run.
/// `rank`: whose steps to show, -1: those of the slowest. Much cheaper than an analysis.
void measure(const trace::Trace& trace, const analyzer::Steps& steps,
             const analyzer::RangeNames& names, std::int32_t rank, Figures& figures);

/// Events that the recorder could not record.
std::int64_t dropped_events(const trace::Trace& trace);

/// What the report's rules say of the stretch; takes the trace.
Cause find_cause(trace::Trace trace, const analyzer::StepOptions& options, std::int32_t& rank);

}  // namespace headway::cli::live
