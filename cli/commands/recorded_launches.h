// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "common/machine_figures.h"
#include "trace/trace.h"

namespace headway::cli {

/// Fills in launch latency, kernel gap and wake-up as recordings show them: starts this program as
/// a separate process that launches kernels on the device, and records it. Figures that fail become
/// absent, with the reason.
void add_recorded_launches(MeasuredDevice& device);

/// The same from an existing recording of such a process.
void take_delays(const trace::Trace& trace, MeasuredDevice& device);

}  // namespace headway::cli
