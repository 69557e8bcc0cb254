// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "collector/inject/cupti.h"

namespace headway::inject {

/// Starts what can be collected from CUDA and says in the definitions (NoteKey::kCuda) what that is
/// or why nothing is. Once per process; never fails the program.
void start_cuda(Cupti& cupti);

/// Subscribes and starts collecting. `text` gets the sentence for the trace, which begins with "on"
/// or "off".
void collect_cuda(Cupti& cupti, char* text, std::size_t capacity);

}  // namespace headway::inject
