// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/attribution/attribution.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// How long the host launches work for its device in a steady step, on average: the step up to the next one, without
/// waits (for a batch, for other ranks, in calls that block or that a full queue holds up) and without pauses of
/// more than a millisecond between two launches, which may be waits, too. The rank cannot make steps faster
/// than this, whatever the other ranks do. Zero without steady steps. Reads the trace once.
DurationNs launching_time(const trace::Trace& trace, const Steps& steps,
                          const Attribution& attribution);

}  // namespace headway::analyzer
