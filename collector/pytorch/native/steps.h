// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {

/// Finds where one training step ends and the next begins, on each thread; headway_pytorch/steps.py has the
/// rules. Call these functions with Python's lock held. False with a Python error set.

/// The thread asks `iterator` for a batch. `trains`: gradients are recorded. `is_last`: the iterator is known to
/// have no batch left.
bool fetch_begins(PerThread& thread, PyObject* iterator, bool trains, bool is_last);
/// The fetch gave no batch: the end of the epoch, or an error.
bool fetch_failed(PerThread& thread);
bool backward_begins(PerThread& thread);
bool backward_ended(PerThread& thread);
/// An optimizer has stepped.
bool updated(PerThread& thread, PyObject* optimizer);

/// Whether the program has made an optimizer, on any thread.
bool has_optimizer();
/// Ends the open step and the evaluation between epochs, if there are any.
bool end_all(PerThread& thread);
bool close_step(PerThread& thread);
/// `trains`: the range may turn out to be a step. `by_update`: the next update ends it.
bool open_step(PerThread& thread, bool trains, bool by_update = false);

/// Adds start_steps(), mode_changed() and the other functions that Python calls.
bool add_step_functions(PyObject* module);

}  // namespace headway::pytorch
