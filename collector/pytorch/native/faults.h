// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <cstdint>

namespace headway::pytorch {

/// Of the calling thread since it was started: those of pages that need no disk.
std::int64_t page_faults();
/// Another step of the process is over, with that many. Has Python tell now and then; false with a Python error set.
bool step_ended(std::int64_t faults);

/// start_faults() and what else Python calls.
bool add_fault_functions(PyObject* module);

}  // namespace headway::pytorch
