// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "common/machine_figures.h"
#include "trace/trace.h"

namespace headway::cli {

/// Fills in launch latency, kernel gap and wake-up, in the terms in which recordings have them: this
/// program launches kernels on the device in a process of its own, which is recorded. What fails becomes
/// absent, with the reason.
void add_recorded_launches(MeasuredDevice& device);

/// The same from a recording of such a process.
void take_delays(const trace::Trace& trace, MeasuredDevice& device);

}  // namespace headway::cli
