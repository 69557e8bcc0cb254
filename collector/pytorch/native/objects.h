// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// The return value of a module's function: None, or null when a Python error is set.
inline PyObject* none_if(bool good) {
  if (!good) return nullptr;
  Py_RETURN_NONE;
}

/// Converts a function for a slot of a type.
template <class Function>
void* pointer(Function function) {
  return reinterpret_cast<void*>(function);
}

/// The last part of a deallocator: frees the object's memory and its reference to the type.
inline void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

}  // namespace headway::pytorch
