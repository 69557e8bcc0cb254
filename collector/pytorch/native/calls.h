// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

namespace headway::pytorch {

inline nvtxStringHandle_t handle_of(unsigned long long number) {
  return reinterpret_cast<nvtxStringHandle_t>(static_cast<std::uintptr_t>(number));
}

/// Adds the types Call, ModuleCall and Push; false with a Python error set.
///
/// The first two are callables that call `fn` with the same arguments and give back its result or exception
/// unchanged. Set as an attribute of a class they bind like a function.
///   Call(fn, before, after, failed)        before(args, kwargs) -> token; after(token, error, result):
///                                          what it gives back, unless None, replaces the result.
///                                          Both may be None.
///   ModuleCall(fn, names, resolve, grad_enabled, failed)
///                                          a range around each call of a module; names: {id: handle},
///                                          resolve(module, outermost) -> handle fills it.
///   Push(names, kind, phase)               a `before` that opens a range and gives pop_to() its token;
///                                          names[type of the first argument] -> handle.
/// When a hook raises an Exception, failed(text) is told once and the hook is left out from then on.
/// KeyboardInterrupt and the like are the program's and go on.
bool add_call_types(PyObject* module);

}  // namespace headway::pytorch
