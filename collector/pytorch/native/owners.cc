// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/owners.h"

#include <limits>

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"
#include "collector/pytorch/native/steps.h"

namespace headway::pytorch {
namespace {

// ---- what a loop of the program does

PyObject* a_fetch_begins(PyObject*, PyObject* arguments) {
  PyObject* iterator = nullptr;
  int trains = 0;
  int is_last = 0;
  if (!PyArg_ParseTuple(arguments, "Opp", &iterator, &trains, &is_last)) return nullptr;
  PerThread* thread = per_thread();
  return none_if(thread && fetch_begins(*thread, iterator, trains != 0, is_last != 0));
}

PyObject* a_fetch_failed(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return none_if(thread && fetch_failed(*thread));
}

PyObject* a_backward_begins(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return none_if(thread && backward_begins(*thread));
}

PyObject* a_backward_ended(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return none_if(thread && backward_ended(*thread));
}

PyObject* has_updated(PyObject*, PyObject* optimizer) {
  PerThread* thread = per_thread();
  return none_if(thread && updated(*thread, optimizer));
}

PyObject* first_call(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  Steps& steps = thread->steps;
  if (!steps.cycle.is_open && steps.fetches == 0 && steps.owners == 0 && steps.steps == 0) {
    if (!open_step(*thread, true, true)) return nullptr;
    steps.cycle.calls =
        std::numeric_limits<std::int64_t>::max();  // before the first update calls say nothing
  }
  Py_RETURN_NONE;
}

PyObject* forward_only(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (thread) ++thread->steps.compiled_calls;
  return none_if(thread != nullptr);
}

PyObject* asks_has_optimizer(PyObject*, PyObject*) {
  return PyBool_FromLong(has_optimizer());
}

// ---- trainers

PyObject* owned(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return thread ? PyBool_FromLong(thread->steps.owners > 0) : nullptr;
}

PyObject* own(PyObject*, PyObject* whole) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  if (thread->steps.owners == 0 && whole == Py_True && !end_all(*thread)) return nullptr;
  return PyLong_FromLong(++thread->steps.owners);
}

PyObject* disown(PyObject*, PyObject* arguments) {
  int token = 0;
  int closes = 0;
  if (!PyArg_ParseTuple(arguments, "ip", &token, &closes)) return nullptr;
  PerThread* thread = per_thread();
  if (!thread || (closes != 0 && token == 1 && !close_step(*thread))) return nullptr;
  thread->steps.owners = token - 1;
  Py_RETURN_NONE;
}

PyObject* works_no_longer(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  const Cycle& cycle = thread->steps.cycle;
  if (thread->steps.owners > 0 && cycle.is_open) Nvtx::pop_to(cycle.depth + 1);
  Py_RETURN_NONE;
}

PyObject* opens(PyObject*, PyObject* trains) {
  PerThread* thread = per_thread();
  return none_if(thread && close_step(*thread) && open_step(*thread, trains == Py_True));
}

PyObject* closes(PyObject*, PyObject* done) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  Cycle& cycle = thread->steps.cycle;
  if (!cycle.is_open) Py_RETURN_NONE;
  if (done != Py_True) {
    cycle.trains = true;  // so that it does not become an evaluation
    cycle.calls = std::numeric_limits<std::int64_t>::max();
  } else if (cycle.trains) {
    ++cycle.updates;
  }
  return none_if(close_step(*thread));
}

PyMethodDef g_functions[] = {
    {"fetch_begins", a_fetch_begins, METH_VARARGS,
     "fetch_begins(iterator, trains, is_last): the thread asks it for a batch."},
    {"fetch_failed", a_fetch_failed, METH_NOARGS, "There was no batch."},
    {"backward_begins", a_backward_begins, METH_NOARGS, "Gradients are computed."},
    {"backward_ended", a_backward_ended, METH_NOARGS, "Without any optimizer, an update follows."},
    {"updated", has_updated, METH_O, "updated(optimizer): or whatever updates weights."},
    {"first_call", first_call, METH_NOARGS,
     "Of what another framework compiled, or of a gradient: the first step begins, unless a fetch "
     "began one."},
    {"forward_only", forward_only, METH_NOARGS,
     "A compiled function was called that does not train."},
    {"has_optimizer", asks_has_optimizer, METH_NOARGS, "One was made, on whatever thread."},
    {"owned", owned, METH_NOARGS, "A trainer with a loop of its own is at work on this thread."},
    {"own", own, METH_O, "own(whole) -> token for disown(): a trainer begins."},
    {"disown", disown, METH_VARARGS, "disown(token, closes): it ends, and what it opened."},
    {"works_no_longer", works_no_longer, METH_NOARGS, "Its batch is done; callbacks follow."},
    {"opens", opens, METH_O, "opens(trains): what comes next is a step, or one of an evaluation."},
    {"closes", closes, METH_O,
     "closes(done): ends the step; not done: discards it, e.g. after the last batch."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_owner_functions(PyObject* module) {
  return PyModule_AddFunctions(module, g_functions) == 0;
}

}  // namespace headway::pytorch
