// SPDX-License-Identifier: MIT
#pragma once

#include "collector/inject/cupti.h"

namespace headway::inject {

/// Collects what CUDA devices and the CUDA API do: CUPTI writes into slots of the segment, and each
/// full one is published with the names its records refer to. Process-wide, once; `cupti` must be
/// subscribed. 0, or CUPTI's error of the first thing that was refused: then nothing is collected.
int start_activity(Cupti& cupti);

/// Publishes what is complete; with `incomplete`, at the end of the process, all there is.
void flush_activity(bool incomplete);

}  // namespace headway::inject
