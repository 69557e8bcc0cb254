// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/updates.h"

#include "collector/pytorch/native/calls.h"
#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/steps.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

nvtxStringHandle_t g_backward = nullptr;
bool g_communicates = false;        ///< a replica of DistributedDataParallel exists
PyObject* g_begin_waits = nullptr;  ///< if so: (tensors) -> token for g_end_waits
PyObject* g_end_waits = nullptr;
PyObject* g_closures = nullptr;      ///< the list of steps that have yet to compute their gradients
PyObject* g_closure_ends = nullptr;  ///< called at the end of a pass while g_closures is not empty
PyObject* g_begin_closure = nullptr;  ///< (optimizer) -> token for g_end_closure
PyObject* g_end_closure = nullptr;
PyObject* g_describe = nullptr;   ///< (optimizer) -> whether it is described now
PyObject* g_described = nullptr;  ///< weak reference to the one described last
PyObject* g_names = nullptr;      ///< {class of an optimizer: handle}
PyObject* g_zero_grad_names = nullptr;
PyObject* g_failed = nullptr;  ///< (error): called when a hook that PyTorch calls has raised

/// Calls a function and drops its result.
bool call(PyObject* function, PyObject* argument = nullptr) {
  PyObject* result = PyObject_CallFunctionObjArgs(function, argument, nullptr);
  Py_XDECREF(result);
  return result != nullptr;
}

/// An argument of a call by its position or name, borrowed; null: not given.
PyObject* argument_of(PyObject* arguments, PyObject* keywords, Py_ssize_t place, const char* name) {
  if (arguments && PyTuple_Size(arguments) > place) return PyTuple_GetItem(arguments, place);
  return keywords && PyDict_Check(keywords) ? PyDict_GetItemString(keywords, name) : nullptr;
}

// ---- backward

bool before_backward(PerThread& thread, PyObject* arguments, PyObject* keywords, Token& token) {
  if (!backward_begins(thread)) return false;
  Thread& ranges = this_thread();
  token.phase = ranges.phase;
  add_backward_pass(1);
  ranges.phase = kPhaseFromOutside;
  token.open = Nvtx::push(g_backward, {RangeKind::kPhase, Phase::kBackward});
  ++thread.passes;
  if (!g_communicates || thread.passes > 1) return true;
  PyObject* tensors = argument_of(arguments, keywords, 0, "tensors");
  token.object = PyObject_CallFunctionObjArgs(g_begin_waits, tensors ? tensors : Py_None, nullptr);
  return token.object != nullptr;
}

bool after_gradients(PerThread& thread, Token& token, bool, PyObject*) {
  --thread.passes;
  const bool waits = token.object && token.object != Py_None;
  const bool good = !waits || call(g_end_waits, token.object);
  add_backward_pass(-1);
  this_thread().phase = token.phase;
  Nvtx::pop_to(token.open);
  return good && (!g_closures || PyList_Size(g_closures) == 0 || call(g_closure_ends));
}

bool after_backward(PerThread& thread, Token& token, bool failed, PyObject* result) {
  return after_gradients(thread, token, failed, result) &&
         (failed || thread.passes > 0 || backward_ended(thread));
}

// ---- optimizers

/// Reports once per optimizer how it is implemented and how much it updates.
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

/// Opens a range named names[class of the optimizer]; false with a Python error set.
bool push_named(PyObject* names, PyObject* optimizer, std::int32_t& before) {
  PyObject* found = PyObject_GetItem(names, reinterpret_cast<PyObject*>(Py_TYPE(optimizer)));
  if (!found) return false;
  before = Nvtx::push(static_cast<nvtxStringHandle_t>(PyLong_AsVoidPtr(found)),
                      {RangeKind::kPhase, Phase::kUpdate});
  Py_DECREF(found);
  return true;
}

bool begin_step(PerThread& thread, PyObject* optimizer, PyObject* closure) {
  if (!describe(optimizer)) return false;
  OpenStep step;
  step.optimizer = optimizer;
  if (closure && closure != Py_None) {  // what a closure does beside its passes is no update
    step.closure = PyObject_CallFunctionObjArgs(g_begin_closure, optimizer, nullptr);
    if (!step.closure) return false;
  } else if (!push_named(g_names, optimizer, step.before)) {
    return false;
  }
  thread.open_steps.push_back(step);
  return true;
}

/// Ends the optimizer's step. Steps that were begun inside it and not ended were left by an
/// exception.
bool end_step(PerThread& thread, PyObject* optimizer, bool failed) {
  while (!thread.open_steps.empty()) {
    const OpenStep step = thread.open_steps.back();
    thread.open_steps.pop_back();
    const bool is_it = step.optimizer == optimizer;
    bool good = true;
    if (is_it && step.closure) good = call(g_end_closure, step.closure);
    if (is_it && !step.closure) Nvtx::pop_to(step.before);
    Py_XDECREF(step.closure);
    if (is_it) return good && (failed || updated(thread, optimizer));
  }
  return true;
}

/// The return value of a function that PyTorch calls directly: no exception of ours leaves it.
PyObject* none_after(bool good) {
  if (good || swallow(g_failed)) Py_RETURN_NONE;
  return nullptr;
}

PyObject* step_begins(PyObject*, PyObject* arguments) {
  PyObject* optimizer = PyTuple_GetItem(arguments, 0);
  PyObject* given = PyTuple_GetItem(arguments, 1);
  PyObject* keywords = PyTuple_GetItem(arguments, 2);
  PerThread* thread = keywords ? per_thread() : nullptr;
  if (!thread) return none_after(false);
  // In some versions of PyTorch the optimizer is among the arguments.
  const bool has_self =
      PyTuple_Check(given) && PyTuple_Size(given) > 0 && PyTuple_GetItem(given, 0) == optimizer;
  PyObject* closure = argument_of(given, keywords, has_self ? 1 : 0, "closure");
  return none_after(begin_step(*thread, optimizer, closure));
}

PyObject* step_ended(PyObject*, PyObject* optimizer) {
  PerThread* thread = per_thread();
  return none_after(thread && end_step(*thread, optimizer, false));
}

bool before_step(PerThread& thread, PyObject* arguments, PyObject* keywords, Token& token) {
  PyObject* optimizer = PyTuple_GetItem(arguments, 0);
  keep(token.object, optimizer);
  return optimizer && begin_step(thread, optimizer, argument_of(arguments, keywords, 1, "closure"));
}

bool after_step(PerThread& thread, Token& token, bool failed, PyObject*) {
  return end_step(thread, token.object, failed);
}

bool before_zero_grad(PerThread&, PyObject* arguments, PyObject*, Token& token) {
  PyObject* optimizer = PyTuple_GetItem(arguments, 0);
  return optimizer && push_named(g_zero_grad_names, optimizer, token.open);
}

bool after_zero_grad(PerThread&, Token& token, bool, PyObject*) {
  Nvtx::pop_to(token.open);
  return true;
}

// ---- for Python

PyObject* start_updates(PyObject*, PyObject* arguments) {
  PyObject *names = nullptr, *zero_grad_names = nullptr, *describe = nullptr, *failed = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOO", &names, &zero_grad_names, &describe, &failed))
    return nullptr;
  keep(g_names, names);
  keep(g_zero_grad_names, zero_grad_names);
  keep(g_describe, describe);
  keep(g_failed, failed);
  g_backward = Nvtx::intern("backward");
  Py_RETURN_NONE;
}

PyObject* start_closures(PyObject*, PyObject* arguments) {
  PyObject *closures = nullptr, *begin = nullptr, *ends = nullptr, *end = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOO", &closures, &begin, &ends, &end)) return nullptr;
  keep(g_closures, closures);
  keep(g_begin_closure, begin);
  keep(g_closure_ends, ends);
  keep(g_end_closure, end);
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
     "start_updates(names, zero_grad_names, describe, failed): before a hook is used; names[class "
     "of "
     "an optimizer] -> handle, describe(optimizer) -> whether it is described now."},
    {"start_closures", start_closures, METH_VARARGS,
     "start_closures(closures, begin, pass_ends, end): begin(optimizer) -> token for end(); "
     "pass_ends() is called at the end of a backward pass while the list `closures` has any."},
    {"communicates", communicates, METH_VARARGS,
     "communicates(on, begin, end): whether a backward pass waits for other ranks; begin(tensors) "
     "-> "
     "token for end()."},
    {"step_begins", step_begins, METH_VARARGS, "step_begins(optimizer, args, kwargs)"},
    {"step_ended", step_ended, METH_O, "step_ended(optimizer): it raised nothing."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_update_functions(PyObject* module) {
  return PyModule_AddFunctions(module, g_functions) == 0 &&
         add_hook(module, "around_backward", before_backward, after_backward) &&
         add_hook(module, "around_gradients", before_backward, after_gradients) &&
         add_hook(module, "around_step", before_step, after_step) &&
         add_hook(module, "around_zero_grad", before_zero_grad, after_zero_grad);
}

}  // namespace headway::pytorch
