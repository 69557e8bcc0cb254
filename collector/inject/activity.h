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

/// Kernels, copies and calls are not recorded until it is called with false; what was launched before may miss its end. False,
/// with nothing changed, where the recorder has not asked for pauses, nothing is collected, or it is so already.
bool pause_activity(bool pause);

/// How far apart records of a kind are for this CUPTI, told by a buffer that holds the kind at every
/// place where one could begin; 0: it knows no such kind.
std::uint16_t activity_stride(Cupti& cupti, std::uint32_t kind);

/// CUPTI's number of a stream of the program; false when it cannot tell.
bool activity_stream_number(void* stream, std::uint32_t& number);

}  // namespace headway::inject
