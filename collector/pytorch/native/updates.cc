// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/updates.h"

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/steps.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

nvtxStringHandle_t g_backward = nullptr;
bool g_communicates = false;         ///< a replica of DistributedDataParallel exists
PyObject* g_begin_waits = nullptr;   ///< then: (tensors) -> what end_waits gets
PyObject* g_end_waits = nullptr;
PyObject* g_closures = nullptr;      ///< the list of steps that have yet to compute their gradients
PyObject* g_closure_ends = nullptr;  ///< called at the end of a pass while there is one
PyObject* g_begin_closure = nullptr;  ///< (optimizer) -> what end_closure gets
PyObject* g_end_closure = nullptr;
PyObject* g_describe = nullptr;      ///< (optimizer) -> whether it is described now
PyObject* g_described = nullptr;     ///< the latest one that is, weakly
PyObject* g_names = nullptr;         ///< {class of an optimizer: handle}

std::int32_t push(nvtxStringHandle_t name, Phase phase) {
  RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(RangeKind::kPhase);
  payload.phase = static_cast<std::uint32_t>(phase);
  const std::int32_t before = this_thread().open;
  Nvtx::push(name, payload);
  return before;
}

/// Calls and drops what it gives back.
bool call(PyObject* function, PyObject* argument = nullptr) {
  PyObject* result = PyObject_CallFunctionObjArgs(function, argument, nullptr);
  Py_XDECREF(result);
  return result != nullptr;
}

/// An argument of a call by its place and name, borrowed; null: not given.
PyObject* argument_of(PyObject* arguments, PyObject* keywords, Py_ssize_t place, const char* name) {
  if (arguments && PyTuple_Size(arguments) > place) return PyTuple_GetItem(arguments, place);
  return keywords && PyDict_Check(keywords) ? PyDict_GetItemString(keywords, name) : nullptr;
}

// ---- backward

PyObject* before_backward(PyObject*, PyObject* arguments) {
  PyObject *given = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &given, &keywords)) return nullptr;
  PerThread* thread = per_thread();
  if (!thread || !backward_begins(*thread)) return nullptr;
  Thread& ranges = this_thread();
  const std::uint32_t phase = ranges.phase;
  add_backward_pass(1);
  ranges.phase = kPhaseFromOutside;
  const std::int32_t open = push(g_backward, Phase::kBackward);
  ++thread->passes;
  PyObject* waits = nullptr;
  if (g_communicates && thread->passes == 1) {
    PyObject* tensors = argument_of(given, keywords, 0, "tensors");
    waits = PyObject_CallFunctionObjArgs(g_begin_waits, tensors ? tensors : Py_None, nullptr);
    if (!waits) return nullptr;
  } else {
    Py_INCREF(waits = Py_None);
  }
  return Py_BuildValue("(iIN)", static_cast<int>(open), static_cast<unsigned>(phase), waits);
}

/// Null with a Python error set.
PerThread* end_backward(PyObject* arguments, bool& failed) {
  int open = 0;
  unsigned phase = 0;
  PyObject *waits = nullptr, *error = nullptr, *result = nullptr;
  if (!PyArg_ParseTuple(arguments, "(iIO)OO", &open, &phase, &waits, &error, &result))
    return nullptr;
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  failed = error == Py_True;
  --thread->passes;
  if (waits != Py_None && !call(g_end_waits, waits)) return nullptr;
  add_backward_pass(-1);
  this_thread().phase = phase;
  Nvtx::pop_to(open);
  if (PyList_Size(g_closures) > 0 && !call(g_closure_ends)) return nullptr;
  return thread;
}

PyObject* after_gradients(PyObject*, PyObject* arguments) {
  bool failed = false;
  if (!end_backward(arguments, failed)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* after_backward(PyObject*, PyObject* arguments) {
  bool failed = false;
  PerThread* thread = end_backward(arguments, failed);
  if (!thread || (!failed && thread->passes == 0 && !backward_ended(*thread))) return nullptr;
  Py_RETURN_NONE;
}

// ---- optimizers

/// Once for each: how it is implemented, and how much it updates.
bool describe(PyObject* optimizer) {
  if (refers_to(g_described, optimizer)) return true;
  PyObject* is_described = PyObject_CallFunctionObjArgs(g_describe, optimizer, nullptr);
  if (!is_described) return false;
  if (is_described == Py_True) {
    PyObject* weak = PyWeakref_NewRef(optimizer, nullptr);
    if (!weak) PyErr_Clear();
    keep(g_described, weak);
    Py_XDECREF(weak);
  }
  Py_DECREF(is_described);
  return true;
}

bool begin_step(PyObject* optimizer, PyObject* closure) {
  PerThread* thread = per_thread();
  if (!thread || !describe(optimizer)) return false;
  OpenStep step;
  step.optimizer = optimizer;
  if (closure && closure != Py_None) {  // what it does beside its passes is no update
    step.closure = PyObject_CallFunctionObjArgs(g_begin_closure, optimizer, nullptr);
    if (!step.closure) return false;
  } else {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(optimizer));
    PyObject* found = PyObject_GetItem(g_names, type);
    if (!found) return false;
    step.before = push(static_cast<nvtxStringHandle_t>(PyLong_AsVoidPtr(found)), Phase::kUpdate);
    Py_DECREF(found);
  }
  thread->open_steps.push_back(step);
  return true;
}

/// Those that were begun in it and not ended were left by an exception.
bool end_step(PyObject* optimizer, bool failed) {
  PerThread* thread = per_thread();
  if (!thread) return false;
  while (!thread->open_steps.empty()) {
    const OpenStep step = thread->open_steps.back();
    thread->open_steps.pop_back();
    const bool is_it = step.optimizer == optimizer;
    bool good = true;
    if (is_it && step.closure) good = call(g_end_closure, step.closure);
    if (is_it && !step.closure) Nvtx::pop_to(step.before);
    Py_XDECREF(step.closure);
    if (is_it) return good && (failed || updated(*thread, optimizer));
  }
  return true;
}

PyObject* step_begins(PyObject*, PyObject* arguments) {
  PyObject *optimizer = nullptr, *given = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &optimizer, &given, &keywords)) return nullptr;
  // Versions differ in whether the optimizer is among the arguments.
  const bool has_self = PyTuple_Check(given) && PyTuple_Size(given) > 0 &&
                        PyTuple_GetItem(given, 0) == optimizer;
  if (!begin_step(optimizer, argument_of(given, keywords, has_self ? 1 : 0, "closure")))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* step_ended(PyObject*, PyObject* optimizer) {
  if (!end_step(optimizer, false)) return nullptr;
  Py_RETURN_NONE;
}

/// Around step() itself: the token is the optimizer.
PyObject* before_step(PyObject*, PyObject* arguments) {
  PyObject *given = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &given, &keywords)) return nullptr;
  PyObject* optimizer = PyTuple_GetItem(given, 0);
  if (!optimizer || !begin_step(optimizer, argument_of(given, keywords, 1, "closure")))
    return nullptr;
  Py_INCREF(optimizer);
  return optimizer;
}

PyObject* after_step(PyObject*, PyObject* arguments) {
  PyObject *optimizer = nullptr, *error = nullptr, *result = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &optimizer, &error, &result) ||
      !end_step(optimizer, error == Py_True))
    return nullptr;
  Py_RETURN_NONE;
}

// ---- for Python

PyObject* start_updates(PyObject*, PyObject* arguments) {
  PyObject *names = nullptr, *describe = nullptr, *closures = nullptr, *begin = nullptr;
  PyObject *ends = nullptr, *end = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOOOO", &names, &describe, &closures, &begin, &ends, &end))
    return nullptr;
  keep(g_names, names);
  keep(g_describe, describe);
  keep(g_closures, closures);
  keep(g_begin_closure, begin);
  keep(g_closure_ends, ends);
  keep(g_end_closure, end);
  g_backward = Nvtx::intern("backward");
  Py_RETURN_NONE;
}

PyObject* communicates(PyObject*, PyObject* arguments) {
  int on = 0;
  PyObject *begin = nullptr, *end = nullptr;
  if (!PyArg_ParseTuple(arguments, "pOO", &on, &begin, &end)) return nullptr;
  keep(g_begin_waits, begin);
  keep(g_end_waits, end);
  g_communicates = on != 0;
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"start_updates", start_updates, METH_VARARGS,
     "start_updates(names, describe, closures, begin_closure, closure_ends, end_closure): before the "
     "others."},
    {"communicates", communicates, METH_VARARGS,
     "communicates(on, begin, end): whether a backward pass waits for other ranks; begin(tensors) -> "
     "token for end()."},
    {"before_backward", before_backward, METH_VARARGS, "Stands before torch.autograd.backward."},
    {"after_backward", after_backward, METH_VARARGS, "Stands after it."},
    {"after_gradients", after_gradients, METH_VARARGS, "Stands after torch.autograd.grad."},
    {"step_begins", step_begins, METH_VARARGS, "step_begins(optimizer, args, kwargs)"},
    {"step_ended", step_ended, METH_O, "step_ended(optimizer): it raised nothing."},
    {"before_step", before_step, METH_VARARGS, "Stands before an optimizer's step()."},
    {"after_step", after_step, METH_VARARGS, "Stands after it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_update_functions(PyObject* module) {
  return PyModule_AddFunctions(module, g_functions) == 0;
}

}  // namespace headway::pytorch
