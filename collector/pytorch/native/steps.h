// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {

/// Where one training step ends and the next begins, on each thread; headway_pytorch/steps.py says how. All with
/// Python's lock held; false with a Python error set.

/// The thread asks `iterator` for a batch. `trains`: gradients are recorded. `is_last`: it is known that there
/// is none left.
bool fetch_begins(PerThread& thread, PyObject* iterator, bool trains, bool is_last);
/// There was no batch: the end of the epoch, or an error.
bool fetch_failed(PerThread& thread);
bool backward_begins(PerThread& thread);
bool backward_ended(PerThread& thread);
/// An optimizer has stepped.
bool updated(PerThread& thread, PyObject* optimizer);

/// One was made, on whatever thread.
bool has_optimizer();
/// What is open ends, also an evaluation between epochs.
bool end_all(PerThread& thread);
bool close_step(PerThread& thread);
/// `trains`: it may turn out to be a step. `by_update`: it ends with one.
bool open_step(PerThread& thread, bool trains, bool by_update = false);

/// start_steps(), mode_changed() and what else Python calls.
bool add_step_functions(PyObject* module);

}  // namespace headway::pytorch
