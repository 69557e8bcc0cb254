// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Adds the hooks around backward passes and optimizer steps (headway_pytorch/training.py).
bool add_update_functions(PyObject* module);

}  // namespace headway::pytorch
