// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/per_thread.h"

#include <unistd.h>

#include <new>

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"

namespace headway::pytorch {
namespace {

/// The object that Python keeps in the dictionary of each thread.
struct Holder {
  PyObject_HEAD PerThread* state;
  std::uint32_t fork;
};

PyTypeObject* g_type = nullptr;
PyObject* g_key = nullptr;
/// The holder of the calling thread, once found. It is freed by its own thread, or when that thread runs no
/// Python any more.
thread_local Holder* t_holder = nullptr;

void forget(PerThread& state) {
  forget_making(state.making);
  Cycle& cycle = state.steps.cycle;
  for (PyObject** slot : {&cycle.source, &state.steps.source, &state.steps.loading})
    keep(*slot, nullptr);
  for (OpenStep& step : state.open_steps) keep(step.closure, nullptr);
}

void dealloc(PyObject* self) {
  auto* holder = reinterpret_cast<Holder*>(self);
  if (t_holder == holder) t_holder = nullptr;
  if (holder->state) forget(*holder->state);
  delete holder->state;
  free_object(self);
}

Holder* add_holder(PyObject* threads_own) {
  PyObject* made = PyType_GenericAlloc(g_type, 0);
  if (!made) return nullptr;
  auto* holder = reinterpret_cast<Holder*>(made);
  holder->state = new (std::nothrow) PerThread;
  holder->fork = forks();
  const bool kept = holder->state && PyDict_SetItem(threads_own, g_key, made) == 0;
  if (!holder->state) PyErr_NoMemory();
  Py_DECREF(made);
  return kept ? holder : nullptr;
}

Holder* find_holder() {
  PyObject* threads_own = PyThreadState_GetDict();  // borrowed
  if (!threads_own) {
    PyErr_SetString(PyExc_RuntimeError, "headway: the thread has no state");
    return nullptr;
  }
  PyObject* found = PyDict_GetItemWithError(threads_own, g_key);  // borrowed
  if (!found && PyErr_Occurred()) return nullptr;
  return found ? reinterpret_cast<Holder*>(found) : add_holder(threads_own);
}

}  // namespace

void keep(PyObject*& slot, PyObject* value) {
  PyObject* old = slot;
  Py_XINCREF(value);
  slot = value;
  Py_XDECREF(old);
}

bool swallow(PyObject* failed) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (failed && failed != Py_None) {
    PyObject* told = PyObject_CallFunctionObjArgs(failed, error ? error : type, nullptr);
    Py_XDECREF(told);
    PyErr_Clear();
  }
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
  return true;
}

bool refers_to(PyObject* weak, PyObject* object) {
  return weak && PyWeakref_GetObject(weak) == object;
}

void forget_making(Making& making) {
  if (making.delays >= 0) close(making.delays);
  keep(making.draws, nullptr);
  making = {};
}

PerThread* per_thread() {
  if (!t_holder) t_holder = find_holder();
  if (!t_holder) return nullptr;
  PerThread* state = t_holder->state;
  if (t_holder->fork != forks()) {  // the open ranges belong to the parent
    t_holder->fork = forks();
    forget(*state);
    *state = {};
  }
  return state;
}

bool add_per_thread_type() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)}, {0, nullptr}};
  PyType_Spec spec = {"_headway_nvtx.PerThread", sizeof(Holder), 0, Py_TPFLAGS_DEFAULT, slots};
  g_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  g_key = PyUnicode_InternFromString("headway");
  return g_type && g_key;
}

}  // namespace headway::pytorch
