// SPDX-License-Identifier: MIT
#pragma once

#include "collector/record/messages/clock.h"
#include "collector/record/record.h"
#include "collector/record/summary.h"
#include "collector/record/trace_assembler.h"

namespace headway::record {

/// Writes what is known before the command runs: HEADWAY_META, META_DATA_CAPTURE, session start.
void describe_run(TraceSink& sink, const RecordOptions& options, const ClockReading& origin,
                  wire::Clock clock);
/// Writes what is known when the command has ended.
void describe_outcome(TraceSink& sink, const Summary& summary, const TraceAssembler& assembler);

}  // namespace headway::record
