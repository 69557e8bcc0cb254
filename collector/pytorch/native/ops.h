// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Ranges of ops, for `--pytorch=ops`. All with Python's lock held; there is one mode in a process.

/// What they need. `mode`: the TorchFunctionMode; `resolve(function)` -> the handle of an op's name, 0 for one without a
/// range; `name(text)` -> the handle of a text; `failed(error)` is told once what switched ops off.
struct OpHooks {
  PyObject* mode = nullptr;
  PyObject* tensor_type = nullptr;
  PyObject* grad_enabled = nullptr;
  PyObject* resolve = nullptr;
  PyObject* name = nullptr;
  PyObject* failed = nullptr;
};
/// Takes references of its own. From here on TorchFunction makes ranges.
void start_ops(const OpHooks& hooks);
void stop_ops();
/// Adds the type TorchFunction; false with a Python error set. An object of it is a mode's `__torch_function__` and
/// gets no `self`: it calls (func, types, args, kwargs) in a range, and has autograd call us around the nodes that
/// func made. What func raises goes on unchanged.
bool add_op_types(PyObject* module);

}  // namespace headway::pytorch
