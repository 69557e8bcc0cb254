// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// What frameworks other than PyTorch, and trainers with a loop of their own, say about steps: for Python
/// (headway_pytorch/owners.py, steps.py).
bool add_owner_functions(PyObject* module);

}  // namespace headway::pytorch
