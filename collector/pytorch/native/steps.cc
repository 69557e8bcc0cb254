// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/steps.h"

#include <algorithm>

#include "collector/pytorch/native/faults.h"
#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

constexpr std::int64_t kUnknown = -1;

nvtxStringHandle_t g_step, g_evaluation_batch, g_evaluation;
PyObject* g_source_gone = nullptr;  ///< called with the weak reference when an iterator is freed
PyObject* g_tell_environments = nullptr;
PyObject* g_begin_sampling = nullptr;
PyObject* g_look_at_step = nullptr;
bool g_told_environments = false;
bool g_has_optimizer = false;  ///< an optimizer was made, on any thread
bool g_samples = false;
std::uint32_t g_samples_fork = 0;
std::int64_t g_next_look = 0;

void set_phase(Phase phase) {
  this_thread().phase = static_cast<std::uint32_t>(phase);
}

void pop_as(RangeKind kind, Phase phase, std::int64_t step = conventions::kAbsent) {
  RangePayload payload(kind, phase);
  payload.step = step;
  Nvtx::pop(payload);
}

/// Ends an evaluation range. First reports once whether the program has environments: it then also collects
/// experience without gradients, which looks like an evaluation.
bool pop_evaluation() {
  bool good = true;
  if (!g_told_environments) {
    g_told_environments = true;
    PyObject* told = PyObject_CallObject(g_tell_environments, nullptr);
    good = told != nullptr;
    Py_XDECREF(told);
  }
  pop_as(RangeKind::kPhase, Phase::kEvaluation);
  return good;
}

/// The number of model calls so far: PyTorch modules, and compiled functions of other frameworks.
std::int64_t calls_in(const Steps& steps) {
  return this_thread().outermost_calls + steps.compiled_calls;
}

Evaluation open_evaluation(const Steps& steps) {
  Thread& thread = this_thread();
  Evaluation evaluation;
  evaluation.is_open = true;
  evaluation.calls = calls_in(steps);
  evaluation.depth =
      Nvtx::push_container(g_evaluation, {RangeKind::kPhase, Phase::kEvaluation}) + 1;
  evaluation.phase = thread.phase;
  set_phase(Phase::kEvaluation);
  return evaluation;
}

/// Ends an evaluation range. It was an evaluation only if a model was called in it; model.eval() may also have
/// frozen a part of the model.
bool end(const Steps& steps, Evaluation& open, bool trains_after_all = false) {
  if (!open.is_open) return true;
  const Evaluation evaluation = open;
  open = {};
  Thread& thread = this_thread();
  if (thread.open < evaluation.depth) return true;
  thread.phase = evaluation.phase;
  Nvtx::pop_to(evaluation.depth);
  if (!trains_after_all && calls_in(steps) != evaluation.calls) return pop_evaluation();
  pop_as(RangeKind::kOther, Phase::kNone);
  return true;
}

bool has_forward_only(const Steps& steps, const Cycle& cycle) {
  return cycle.updates == 0 && cycle.backwards == 0 && calls_in(steps) > cycle.calls;
}

bool look_at_step(std::int64_t number) {
  if (number < g_next_look) return true;
  PyObject* next = PyObject_CallFunction(g_look_at_step, "L", static_cast<long long>(number));
  if (!next) return false;
  if (next != Py_None) g_next_look = PyLong_AsLongLong(next);
  Py_DECREF(next);
  return !PyErr_Occurred();
}

/// Closes the open range as what it turned out to be. `faults`: set to page_faults() if that was read.
bool close(PerThread& thread, std::int64_t* faults = nullptr) {
  if (!thread.steps.cycle.is_open) return true;
  Cycle cycle = thread.steps.cycle;
  thread.steps.cycle = {};
  bool good = end(thread.steps, cycle.evaluation);
  Nvtx::pop_to(cycle.depth + 1);
  if (this_thread().open > cycle.depth) {
    if (cycle.updates > 0)
      pop_as(RangeKind::kStep, Phase::kNone, thread.steps.steps);
    else if (!cycle.trains || has_forward_only(thread.steps, cycle))
      good = pop_evaluation() && good;
    else
      pop_as(RangeKind::kOther, Phase::kNone);
  }
  if (cycle.updates > 0) {
    const std::int64_t now = page_faults();
    if (faults) *faults = now;
    good = good && step_ended(now - cycle.faults) && look_at_step(++thread.steps.steps);
  }
  set_phase(Phase::kNone);
  keep(cycle.source, nullptr);
  return good;
}

bool open(PerThread& thread, bool trains, bool by_update = false, std::int64_t faults = kUnknown) {
  Cycle& cycle = thread.steps.cycle;
  keep(cycle.source, nullptr);
  cycle = {};
  cycle.is_open = true;
  cycle.trains = trains;
  cycle.by_update = by_update;
  cycle.calls = calls_in(thread.steps);
  cycle.faults = faults == kUnknown ? page_faults() : faults;
  cycle.depth =
      trains ? Nvtx::push_container(g_step, {RangeKind::kStep, Phase::kNone})
             : Nvtx::push_container(g_evaluation_batch, {RangeKind::kPhase, Phase::kEvaluation});
  // With `by_update` the gradient mode decides, because an evaluation may lie in the range.
  set_phase(by_update ? Phase::kNone : trains ? Phase::kForward : Phase::kEvaluation);
  if (g_samples && g_samples_fork == forks()) return true;
  PyObject* begun = PyObject_CallObject(g_begin_sampling, nullptr);
  if (!begun) return false;
  g_samples = begun == Py_True;
  g_samples_fork = forks();
  Py_DECREF(begun);
  return true;
}

/// The range after model.eval() turns out to train: the call may have frozen a part of the model.
void trains_after_all(Cycle& cycle) {
  if (!cycle.by_mode) return;
  cycle.by_mode = false;
  cycle.trains = cycle.by_update = true;
}

/// Called when an iterator is freed: the loop was left early.
PyObject* source_gone(PyObject*, PyObject* reference) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  const Cycle& cycle = thread->steps.cycle;  // does not match a reference of another thread
  if (cycle.is_open && cycle.source == reference && !close(*thread)) return nullptr;
  Py_RETURN_NONE;
}

bool keep_source(Steps& steps, PyObject* iterator) {
  if (!refers_to(steps.source, iterator)) {
    PyObject* weak = PyWeakref_NewRef(iterator, g_source_gone);
    if (!weak) return false;
    keep(steps.loading, nullptr);
    keep(steps.source, weak);
    Py_DECREF(weak);
  }
  keep(steps.cycle.source, steps.source);
  return true;
}

/// mode_changed() for a loop without a loader.
bool mode_changed_between_updates(PerThread& thread, bool trains) {
  Cycle& cycle = thread.steps.cycle;
  if (!cycle.is_open) return !trains || !g_has_optimizer || open(thread, true, true);
  if (cycle.updates > 0 || cycle.backwards > 0) return true;
  if (!trains && cycle.by_update && thread.steps.steps > 0 &&
      calls_in(thread.steps) == cycle.calls) {
    if (!close(thread) || !open(thread, false)) return false;
    cycle.by_mode = true;
    set_phase(Phase::kNone);  // the gradient mode decides
    return true;
  }
  return !trains || !cycle.by_mode || (close(thread) && open(thread, true, true));
}

/// model.eval() or model.train() was called on a module; `outermost`: the program calls that module itself.
bool mode_changed(PerThread& thread, bool trains, bool outermost) {
  Steps& steps = thread.steps;
  if (steps.owners > 0) return true;
  Cycle& cycle = steps.cycle;
  if (steps.fetches == 0) return !outermost || mode_changed_between_updates(thread, trains);
  if (cycle.is_open && cycle.trains) {
    // model.eval() after an update begins an evaluation inside the step, which goes on until the next fetch.
    if (trains) return end(thread.steps, cycle.evaluation);
    if (cycle.updates > 0 && !cycle.evaluation.is_open && this_thread().open == cycle.depth + 1)
      cycle.evaluation = open_evaluation(thread.steps);
    return true;
  }
  if (trains) return end(steps, steps.between);
  if (!cycle.is_open && outermost && steps.steps > 0 && !steps.between.is_open)
    steps.between = open_evaluation(thread.steps);
  return true;
}

/// A compiled function that does not train is called, and the steps before did not call it.
bool evaluation_begins(PerThread& thread) {
  Steps& steps = thread.steps;
  if (steps.owners > 0 || steps.steps == 0) return true;
  if (steps.fetches > 0) return mode_changed(thread, false, true);
  Cycle& cycle = steps.cycle;
  if (!cycle.is_open || !cycle.by_update || cycle.updates > 0 || cycle.backwards > 0) return true;
  if (!close(thread) || !open(thread, false)) return false;
  cycle.by_mode = true;
  set_phase(Phase::kNone);  // the call itself says the phase
  return true;
}

// ---- for Python

PyObject* begin_evaluation(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return none_if(thread && evaluation_begins(*thread));
}

PyObject* start_steps(PyObject*, PyObject* arguments) {
  PyObject *environments = nullptr, *sampling = nullptr, *look = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &environments, &sampling, &look)) return nullptr;
  keep(g_tell_environments, environments);
  keep(g_begin_sampling, sampling);
  keep(g_look_at_step, look);
  g_step = Nvtx::intern("step");
  g_evaluation_batch = Nvtx::intern("evaluation batch");
  g_evaluation = Nvtx::intern("evaluation");
  Py_RETURN_NONE;
}

PyObject* forward_begins(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  const bool begins =
      !thread->steps.cycle.is_open && thread->steps.fetches == 0 && thread->steps.owners == 0;
  return none_if(!begins || open(*thread, true, true));
}

PyObject* change_mode(PyObject*, PyObject* arguments) {
  int trains = 0;
  int outermost = 0;
  if (!PyArg_ParseTuple(arguments, "pp", &trains, &outermost)) return nullptr;
  PerThread* thread = per_thread();
  return none_if(thread && mode_changed(*thread, trains != 0, outermost != 0));
}

PyObject* optimizer_made(PyObject*, PyObject*) {
  g_has_optimizer = true;
  Py_RETURN_NONE;
}

PyObject* steps_ended(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return thread ? PyLong_FromLongLong(thread->steps.steps) : nullptr;
}

PyObject* end_steps(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  return none_if(thread && end(thread->steps, thread->steps.between) && close(*thread));
}

PyMethodDef g_functions[] = {
    {"start_steps", start_steps, METH_VARARGS,
     "start_steps(tell_environments, begin_sampling, look_at_step): before any of the others. "
     "begin_sampling() -> True when it is done; look_at_step(number) -> the next number to call it "
     "with, or None."},
    {"forward_begins", forward_begins, METH_NOARGS,
     "An outermost module is called for the first time: where there is no loader, a step begins."},
    {"mode_changed", change_mode, METH_VARARGS,
     "mode_changed(trains, outermost): model.train() or model.eval(), of a module that the program "
     "calls itself or of another."},
    {"evaluation_begins", begin_evaluation, METH_NOARGS,
     "A function that does not train is called, and the steps before did without it."},
    {"optimizer_made", optimizer_made, METH_VARARGS, "On whatever thread."},
    {"steps_ended", steps_ended, METH_NOARGS, "How many steps this thread has ended."},
    {"end_steps", end_steps, METH_NOARGS, "To be called at exit."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef g_source_gone_function = {"source_gone", source_gone, METH_O, nullptr};

}  // namespace

bool has_optimizer() {
  return g_has_optimizer;
}

bool end_all(PerThread& thread) {
  return close(thread) && end(thread.steps, thread.steps.between);
}

bool close_step(PerThread& thread) {
  return close(thread);
}

bool open_step(PerThread& thread, bool trains, bool by_update) {
  return open(thread, trains, by_update);
}

bool fetch_begins(PerThread& thread, PyObject* iterator, bool trains, bool is_last) {
  Steps& steps = thread.steps;
  if (steps.owners > 0) return true;
  ++steps.fetches;
  if (!end(steps, steps.between)) return false;
  const Cycle& cycle = steps.cycle;
  const bool goes_on = cycle.is_open && cycle.trains && trains && cycle.updates == 0 &&
                       !cycle.by_update && !has_forward_only(thread.steps, cycle) && !is_last;
  if (goes_on && cycle.backwards == 0 && refers_to(cycle.source, iterator))
    steps.reads_ahead = true;
  if (!goes_on) {
    std::int64_t faults = kUnknown;
    if (!close(thread, &faults)) return false;
    if (is_last) return true;
    if (!open(thread, trains, false, faults)) return false;
  }
  return keep_source(steps, iterator);
}

bool fetch_failed(PerThread& thread) {
  if (thread.steps.owners > 0) return true;
  Cycle& cycle = thread.steps.cycle;
  if (cycle.is_open && cycle.updates == 0 && cycle.backwards == 0 && !close(thread)) return false;
  if (cycle.is_open || !thread.steps.reads_ahead) return true;
  thread.steps.reads_ahead = false;  // the loop has not used the last batch yet
  if (!open(thread, true)) return false;
  cycle.is_last = true;
  return true;
}

bool backward_begins(PerThread& thread) {
  if (thread.steps.owners > 0) return true;
  if (!end(thread.steps, thread.steps.between, true)) return false;
  Cycle& cycle = thread.steps.cycle;
  if (!cycle.is_open) return true;
  if (!end(thread.steps, cycle.evaluation, true)) return false;
  trains_after_all(cycle);
  ++cycle.backwards;
  return true;
}

bool backward_ended(PerThread& thread) {
  if (g_has_optimizer || thread.steps.owners > 0) return true;
  Cycle& cycle = thread.steps.cycle;
  if (cycle.is_open) {
    ++cycle.updates;
    if (cycle.by_update && !close(thread)) return false;
  }
  return cycle.is_open || thread.steps.fetches > 0 || open(thread, true, true);
}

bool updated(PerThread& thread, PyObject* optimizer) {
  Steps& steps = thread.steps;
  if (steps.owners > 0) return true;
  if (std::find(steps.optimizers.begin(), steps.optimizers.end(), optimizer) ==
      steps.optimizers.end()) {
    steps.optimizers.push_back(optimizer);
    steps.anchor = optimizer;
  }
  Cycle& cycle = steps.cycle;
  if (!cycle.is_open) return steps.fetches > 0 || open(thread, true, true);
  trains_after_all(cycle);
  ++cycle.updates;
  if (optimizer != steps.anchor) return true;
  ++cycle.anchor_updates;
  if (cycle.is_last) return close(thread);
  if (!cycle.by_update && cycle.anchor_updates <= 1) return true;
  std::int64_t faults = kUnknown;
  return close(thread, &faults) && open(thread, true, true, faults);
}

bool add_step_functions(PyObject* module) {
  g_source_gone = PyCFunction_New(&g_source_gone_function, nullptr);
  return g_source_gone && PyModule_AddFunctions(module, g_functions) == 0;
}

}  // namespace headway::pytorch
