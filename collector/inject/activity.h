// SPDX-License-Identifier: MIT
#pragma once

#include "collector/inject/cupti.h"

namespace headway::inject {

/// Starts collecting what CUDA devices and the CUDA API do: CUPTI writes into slots of the segment,
/// and each full slot is published with the names that its records refer to. Call it once per
/// process, when `cupti` is subscribed. Returns 0, or the error of the first request that CUPTI
/// refused; then nothing is collected.
int start_activity(Cupti& cupti);

/// Publishes the buffers whose records are complete; with `incomplete`, which is for the end of the
/// process, all buffers.
void flush_activity(bool incomplete);

/// true: stops recording kernels, copies and calls; false: records them again. Work launched just before a pause may be
/// lost. Returns false, and changes nothing, when the recorder has not asked for pauses, when nothing is collected, or when
/// the state is already the requested one.
bool pause_activity(bool pause);

/// Bytes from one record of `kind` to the next in this version of CUPTI; 0 when it does not know the
/// kind. Measured on a buffer that holds the kind at every place where a record could begin.
std::uint16_t activity_stride(Cupti& cupti, std::uint32_t kind);

/// Finds CUPTI's number of a stream of the program; false when CUPTI cannot tell it.
bool activity_stream_number(void* stream, std::uint32_t& number);

}  // namespace headway::inject
