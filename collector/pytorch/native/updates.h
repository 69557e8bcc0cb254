// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Functions that stand around backward passes and steps of optimizers (headway_pytorch/training.py).
bool add_update_functions(PyObject* module);

}  // namespace headway::pytorch
