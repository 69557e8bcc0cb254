// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {

/// Ranges for making a batch: samples, then collate; in a worker process, or on the thread that waits. Call these
/// functions with Python's lock held. False with a Python error set.

/// How many batch numbers are reserved for one pass over an iterable dataset; the same as EPOCHS in
/// headway_pytorch/stages.py.
inline constexpr std::int64_t kEpochs = 1'000'000;

/// To be called when the waiting thread makes the batch itself. `alone`: only samples are made in it; in the first batch
/// of a pass the sampler draws random numbers, too.
bool begin_here(Making& making, std::int64_t batch, bool in_memory, bool alone);
bool end_here(Making& making);

/// Adds the hooks around functions of the program, and the functions that a worker calls.
bool add_making_functions(PyObject* module);

}  // namespace headway::pytorch
