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

/// What a hook keeps from the begin of a call to its end.
struct Token {
  std::int32_t open = 0;       ///< ranges open before the call
  std::uint32_t phase = 0;     ///< Thread::phase before the call
  PyObject* object = nullptr;  ///< owned
};
/// Native hooks before and after a call. No Python object is made for them: in a training loop everything they
/// touch is out of the caches. `keywords` may be null. False with a Python error set.
using Before = bool (*)(PerThread&, PyObject* arguments, PyObject* keywords, Token&);
using After = bool (*)(PerThread&, Token&, bool failed, PyObject* result);

/// Adds the types Call and ModuleCall; false with a Python error set.
///
/// Both are callables that call `fn` with the same arguments and return its result or raise its exception
/// unchanged. As an attribute of a class they bind like a function.
///   Call(fn, before, after, failed)        before(args, kwargs) -> token; after(token, error, result):
///                                          its return value, unless None, replaces the result.
///                                          Both may be None. Or `before` is a hook of add_hook(),
///                                          which does both, and `after` is None.
///   ModuleCall(fn, names, resolve, grad_enabled, failed)
///                                          a range around each call of a module; names: {id: handle},
///                                          resolve(module, outermost) -> handle adds to it.
/// When a hook raises an Exception, failed(error) is called and the hook is not called again.
/// KeyboardInterrupt and similar exceptions belong to the program and propagate.
bool add_call_types(PyObject* module);
/// Adds a native hook for Call with this name to the module. Call it after add_call_types(). False with a Python
/// error set.
bool add_hook(PyObject* module, const char* name, Before before, After after);

}  // namespace headway::pytorch
