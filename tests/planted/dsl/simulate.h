// SPDX-License-Identifier: MIT
#pragma once

#include "tests/planted/dsl/case.h"
#include "tests/planted/dsl/recording.h"

namespace headway::planted {

/// Runs the case: threads take their turns in order of time, devices work through their queues,
/// loaders make batches, ranks meet in collectives. Deterministic: the same case gives the same
/// recording. Throws Error(kBadInput) naming file and line when the case cannot be run (an event
/// that is never recorded, a collective that not all ranks join).
Recording simulate(const Case& c);

}  // namespace headway::planted
