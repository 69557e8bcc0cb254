// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Ranges of ops, for `--pytorch=ops`. Call all functions with Python's lock held. There is one mode per process.

/// What the functions need. `mode`: the TorchFunctionMode; `resolve(function)` -> the handle of an op's name, 0 for an
/// op without a range; `name(text)` -> the handle of a text; `failed(error)` is called once with the error that switched
/// ops off.
struct OpHooks {
  PyObject* mode = nullptr;
  PyObject* tensor_type = nullptr;
  PyObject* grad_enabled = nullptr;
  PyObject* resolve = nullptr;
  PyObject* name = nullptr;
  PyObject* failed = nullptr;
};
/// Takes its own references. From here on TorchFunction makes ranges.
void start_ops(const OpHooks& hooks);
void stop_ops();
/// Adds the type TorchFunction; false with a Python error set. An object of it is a mode's `__torch_function__` and gets
/// no `self`, but (func, types, args, kwargs): it calls func in a range, and registers hooks with autograd around the
/// nodes that func made. Exceptions of func propagate unchanged.
bool add_op_types(PyObject* module);

}  // namespace headway::pytorch
