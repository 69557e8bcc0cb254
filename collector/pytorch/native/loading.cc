// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/loading.h"

#include <algorithm>
#include <new>
#include <vector>

#include "collector/pytorch/native/calls.h"
#include "collector/pytorch/native/making.h"
#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"
#include "collector/pytorch/native/steps.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

/// One pass over a loader; with persistent workers, several passes.
struct Pass {
  std::int64_t base = 0;  ///< number of its first batch
  std::int64_t workers = 0;
  std::int64_t prefetch = 0;  ///< number of batches requested ahead
  std::int64_t length = -1;   ///< batches of a pass; -1: not known
  bool iterable = false;
  bool in_order = true;  ///< false: the worker of an awaited batch is not known
  bool in_memory = false;
  std::int64_t yielded = 0;
  std::int64_t epoch = 0;
  std::vector<std::int64_t> before;  ///< batches each worker made in earlier passes

  bool is_over() const { return length >= 0 && yielded >= length; }

  /// The number of the batch that is fetched next; the worker numbers its batches by the same rule.
  std::int64_t batch() const {
    if (workers == 0) return base + yielded;
    if (!in_order) return conventions::kAbsent;
    const std::int64_t worker = yielded % workers;
    const std::int64_t made = before[static_cast<std::size_t>(worker)] + yielded / workers;
    return base + epoch * kEpochs + worker + made * workers;
  }

  /// Persistent workers begin another pass. They have made all batches that were requested.
  void restart() {
    std::int64_t asked = yielded + prefetch;
    if (length >= 0) asked = std::min(asked, length);
    for (std::int64_t worker = 0; worker < workers; ++worker)
      before[static_cast<std::size_t>(worker)] += (asked - worker + workers - 1) / workers;
    if (iterable) {  // its workers see the new pass and count from 0
      std::fill(before.begin(), before.end(), 0);
      ++epoch;
    }
    yielded = 0;
  }
};

struct Loading {
  PyObject_HEAD Pass* pass;
};

PyTypeObject* g_type = nullptr;
PyObject* g_find = nullptr;
PyObject* g_names = nullptr;
PyObject* g_grad_enabled = nullptr;
PyObject* g_look = nullptr;
PyObject* g_end_wait = nullptr;
PyTypeObject* g_seen =
    nullptr;  ///< type of batches at which Python need not look any more; only compared
nvtxStringHandle_t g_shutdown = nullptr;

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  long long base = 0, workers = 0, prefetch = 0, length = 0;
  int iterable = 0, in_order = 0, in_memory = 0;
  if (!PyArg_ParseTuple(arguments, "LLLLppp", &base, &workers, &prefetch, &length, &iterable,
                        &in_order, &in_memory))
    return nullptr;
  PyObject* made = PyType_GenericAlloc(type, 0);
  auto* pass = made ? new (std::nothrow) Pass : nullptr;
  if (!pass) {
    Py_XDECREF(made);
    return PyErr_NoMemory();
  }
  reinterpret_cast<Loading*>(made)->pass = pass;
  pass->base = base;
  pass->workers = workers;
  pass->prefetch = prefetch;
  pass->length = length;
  pass->iterable = iterable != 0;
  pass->in_order = in_order != 0;
  pass->in_memory = in_memory != 0;
  pass->before.assign(static_cast<std::size_t>(workers), 0);
  return made;
}

void dealloc(PyObject* self) {
  delete reinterpret_cast<Loading*>(self)->pass;
  free_object(self);
}

PyObject* restart(PyObject* self, PyObject*) {
  reinterpret_cast<Loading*>(self)->pass->restart();
  Py_RETURN_NONE;
}

/// The pass of a Loading; null when the loader is not known.
Pass* pass_of(PyObject* loading) {
  return Py_TYPE(loading) == g_type ? reinterpret_cast<Loading*>(loading)->pass : nullptr;
}

/// A new reference to the Loading of the iterator's loader, or None.
PyObject* loading_of(const Steps& steps, PyObject* iterator) {
  if (steps.loading && refers_to(steps.source, iterator)) {
    Py_INCREF(steps.loading);
    return steps.loading;
  }
  return PyObject_CallFunctionObjArgs(g_find, iterator, nullptr);
}

bool push_wait(PyObject* iterator, std::int64_t batch) {
  PyObject* found = PyObject_GetItem(g_names, reinterpret_cast<PyObject*>(Py_TYPE(iterator)));
  if (!found) return false;
  Nvtx::push(static_cast<nvtxStringHandle_t>(PyLong_AsVoidPtr(found)),
             {RangeKind::kInputWait, Phase::kInput, batch});
  Py_DECREF(found);
  return true;
}

/// Opens the range of the wait. `before`: number of ranges open around it. False with a Python error
/// set.
bool begin_wait(PerThread& thread, PyObject* iterator, PyObject* loading, std::int32_t& before) {
  const Pass* pass = pass_of(loading);
  const bool is_over = pass && pass->is_over();
  PyObject* trains = PyObject_CallObject(g_grad_enabled, nullptr);
  Py_XDECREF(trains);
  if (!trains || !fetch_begins(thread, iterator, trains == Py_True, is_over)) return false;
  before = this_thread().open;
  if (is_over) {  // there is no batch to wait for: the iterator and its workers end
    Nvtx::push(g_shutdown, {RangeKind::kPhase, Phase::kInput});
    return true;
  }
  keep(thread.steps.loading, loading);
  const std::int64_t batch = pass ? pass->batch() : conventions::kAbsent;
  if (!push_wait(iterator, batch)) return false;
  return !pass || pass->workers > 0 ||
         begin_here(thread.making, batch, pass->in_memory, pass->yielded > 0);
}

bool before_next(PerThread& thread, PyObject* arguments, PyObject*, Token& token) {
  PyObject* iterator = PyTuple_GetItem(arguments, 0);
  token.object = iterator ? loading_of(thread.steps, iterator) : nullptr;
  return token.object && begin_wait(thread, iterator, token.object, token.open);
}

/// Lets Python look at the content of the first batches; Python says whether it needs more of that
/// type.
bool look(PyObject* batch) {
  if (Py_TYPE(batch) == g_seen) return true;
  PyObject* more = PyObject_CallFunctionObjArgs(g_look, batch, nullptr);
  if (more && more != Py_True) g_seen = Py_TYPE(batch);
  Py_XDECREF(more);
  return more != nullptr;
}

/// Ends the range of a wait. When a framework computes asynchronously, Python says what the wait
/// was.
bool end_wait(std::int32_t before) {
  if (!g_end_wait) {
    Nvtx::pop_to(before);
    return true;
  }
  PyObject* ended = PyObject_CallFunction(g_end_wait, "i", static_cast<int>(before));
  Py_XDECREF(ended);
  return ended != nullptr;
}

PyObject* end_waits_by(PyObject*, PyObject* function) {
  keep(g_end_wait, function);
  Py_RETURN_NONE;
}

bool after_next(PerThread& thread, Token& token, bool failed, PyObject* result) {
  const bool made = end_here(thread.making);
  if (!end_wait(token.open) || !made) return false;
  if (failed) return fetch_failed(thread);
  Pass* pass = pass_of(token.object);
  if (!pass) return true;
  ++pass->yielded;
  return look(result);
}

PyObject* start_loading(PyObject*, PyObject* arguments) {
  PyObject *find = nullptr, *names = nullptr, *grad_enabled = nullptr, *look = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOO", &find, &names, &grad_enabled, &look)) return nullptr;
  keep(g_find, find);
  keep(g_names, names);
  keep(g_grad_enabled, grad_enabled);
  keep(g_look, look);
  g_shutdown = Nvtx::intern("DataLoader shutdown");
  Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {
    {"restart", restart, METH_NOARGS, "Persistent workers begin another pass."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef g_functions[] = {
    {"start_loading", start_loading, METH_VARARGS,
     "start_loading(find, names, grad_enabled, look): before a wait. find(iterator) -> its "
     "Loading or None; names[type of an iterator] -> handle; look(batch) -> whether to show it "
     "more "
     "of that type."},
    {"end_waits_by", end_waits_by, METH_O, "end_waits_by(end): end(count) instead of pop_to()."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_loading_functions(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, pointer(make)},
                         {Py_tp_dealloc, pointer(dealloc)},
                         {Py_tp_methods, g_methods},
                         {0, nullptr}};
  PyType_Spec spec = {"_headway_nvtx.Loading", sizeof(Loading), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  g_type = reinterpret_cast<PyTypeObject*>(type);
  return type && PyModule_AddObject(module, "Loading", type) == 0 &&  // steals on success
         PyModule_AddFunctions(module, g_functions) == 0 &&
         add_hook(module, "around_next", before_next, after_next);
}

}  // namespace headway::pytorch
