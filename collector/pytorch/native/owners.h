// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Adds the functions with which the hooks of other frameworks, and of trainers with their own loop,
/// report steps (headway_pytorch/owners.py, steps.py).
bool add_owner_functions(PyObject* module);

}  // namespace headway::pytorch
