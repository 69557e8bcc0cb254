// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {

inline nvtxStringHandle_t handle_of(unsigned long long number) {
  return reinterpret_cast<nvtxStringHandle_t>(static_cast<std::uintptr_t>(number));
}

/// What a hook keeps of a call until it ends.
struct Token {
  std::int32_t open = 0;       ///< ranges before
  std::uint32_t phase = 0;     ///< of module calls before
  PyObject* object = nullptr;  ///< owned
};
/// Before and after a call: no object of Python is made for them, as in a loop all they touch is out of the caches.
/// `keywords` may be null. False with a Python error set.
using Before = bool (*)(PerThread&, PyObject* arguments, PyObject* keywords, Token&);
using After = bool (*)(PerThread&, Token&, bool failed, PyObject* result);

/// Adds the types Call and ModuleCall; false with a Python error set.
///
/// Callables that call `fn` with the same arguments and give back its result or exception unchanged. Set as an
/// attribute of a class they bind like a function.
///   Call(fn, before, after, failed)        before(args, kwargs) -> token; after(token, error, result):
///                                          what it gives back, unless None, replaces the result.
///                                          Both may be None. Or `before` is one of add_hook(): it is
///                                          both, and `after` is None.
///   ModuleCall(fn, names, resolve, grad_enabled, failed)
///                                          a range around each call of a module; names: {id: handle},
///                                          resolve(module, outermost) -> handle fills it.
/// When a hook raises an Exception, failed(text) is told once and the hook is left out from then on.
/// KeyboardInterrupt and the like are the program's and go on.
bool add_call_types(PyObject* module);
/// A native hook for Call, under that name. After add_call_types(); false with a Python error set.
bool add_hook(PyObject* module, const char* name, Before before, After after);

}  // namespace headway::pytorch
