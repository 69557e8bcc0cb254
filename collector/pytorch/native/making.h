// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {

/// How a batch is made: samples, then collate; in a worker process, or on the thread that waits. With Python's lock held;
/// false with a Python error set.

/// Numbers of batches in one pass over an iterable dataset; as EPOCHS of headway_pytorch/stages.py.
inline constexpr std::int64_t kEpochs = 1'000'000;

/// The thread that waits makes the batch itself. `alone`: nothing but samples is made; a sampler draws where its
/// first batch begins.
bool begin_here(Making& making, std::int64_t batch, bool in_memory, bool alone);
bool end_here(Making& making);

/// The hooks around functions of the program, and what a worker calls.
bool add_making_functions(PyObject* module);

}  // namespace headway::pytorch
