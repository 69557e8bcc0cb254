// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "trace/trace.h"

/// What of a run's begin says nothing of the rest.
namespace headway::analyzer {

/// The number of steps at the start that are slower than the rest, for whatever reason. `durations`: of the
/// steps without the very first one, which takes `first`.
std::size_t slow_at_first(const std::vector<double>& durations, double first);

/// Of `count` values as many at least are needed to say that they are different from those before.
std::size_t least_late(std::size_t count);

/// The end of the last read from a storage, where all later reads are from memory: a page cache holds the
/// samples by then. What bounds the steps may hide that their reads got faster, but a change would show it.
/// TimeNs::min() where reads do not get three times as fast for good.
TimeNs cold_reads_until(const trace::Trace& trace);

}  // namespace headway::analyzer
