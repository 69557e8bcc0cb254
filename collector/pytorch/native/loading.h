// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// The training thread's waits for batches: the type Loading and the hook around an iterator's `__next__`. Python knows
/// the loader of an iterator (headway_pytorch/loading.py).
bool add_loading_functions(PyObject* module);

}  // namespace headway::pytorch
