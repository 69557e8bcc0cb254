// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <cstdint>

namespace headway::pytorch {

/// Minor page faults (without disk access) of the calling thread since its start.
std::int64_t page_faults();
/// Counts a step of the process that is over, with its number of page faults. After some steps calls Python to
/// report them. False with a Python error set.
bool step_ended(std::int64_t faults);

/// Adds start_faults() and the other functions that Python calls.
bool add_fault_functions(PyObject* module);

}  // namespace headway::pytorch
