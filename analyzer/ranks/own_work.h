// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/attribution/attribution.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a steady step takes the training thread itself, on average: the step up to the next one, without the time
/// in which a thread of its process waits for a batch, for another rank or in a device call. However quick
/// the other ranks are, the rank cannot make steps faster. Zero without steady steps. Reads the trace once.
DurationNs own_host_work(const trace::Trace& trace, const Steps& steps,
                         const Attribution& attribution);

}  // namespace headway::analyzer
