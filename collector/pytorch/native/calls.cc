// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/calls.h"

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

PyObject* g_method_type = nullptr;  ///< types.MethodType
PyTypeObject* g_hook_type = nullptr;

struct Hook {
  PyObject_HEAD Before before;
  After after;
};

/// The objects of both types: `fn`, what the hooks need, and in the last slot the callable for
/// failures.
struct Caller {
  PyObject_HEAD PyObject* slots[5];
};
enum Slot {
  kFn = 0,
  kBefore = 1,
  kAfter = 2,
  kNames = 1,
  kResolve = 2,
  kGradEnabled = 3,
  kFailed = 4
};

Caller* caller(PyObject* object) {
  return reinterpret_cast<Caller*>(object);
}

bool is_set(PyObject* slot) {
  return slot && slot != Py_None;
}

/// An exception that the program raised, set aside while hooks run.
struct RaisedError {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;

  void take() { PyErr_Fetch(&type, &value, &traceback); }
  void give_back() { PyErr_Restore(type, value, traceback); }
  void drop() {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
};

/// Called when a hook has failed: reports why and switches the hooks off. False when the exception
/// is not the hook's but the program's (Ctrl-C meanwhile); it then stays set.
bool swallow_error(Caller* self) {
  if (!swallow(self->slots[kFailed])) return false;
  for (int slot : {kBefore, kAfter}) keep(self->slots[slot], Py_None);
  return true;
}

/// Calls a hook, which may switch itself off meanwhile. Null: the hook failed. `interrupted` is set
/// when the program must get the exception, which is then set.
PyObject* call_hook(Caller* self, PyObject* hook, bool& interrupted, PyObject* first,
                    PyObject* second, PyObject* third = nullptr) {
  Py_INCREF(hook);
  PyObject* result = PyObject_CallFunctionObjArgs(hook, first, second, third, nullptr);
  Py_DECREF(hook);
  if (!result) interrupted = !swallow_error(self);
  return result;
}

PyObject* not_ready() {
  PyErr_SetString(PyExc_RuntimeError,
                  "headway: this wrapper has no function to call: not initialised, or cleared");
  return nullptr;
}

PyObject* call_in(Hook* hook, Caller* self, PyObject* fn, PyObject* arguments, PyObject* keywords) {
  Token token;
  PerThread* thread = per_thread();
  const bool begun = thread && hook->before(*thread, arguments, keywords, token);
  if (!begun && !swallow_error(self)) {
    Py_XDECREF(token.object);
    return nullptr;
  }
  const std::uint32_t forks_before = forks();
  Py_INCREF(fn);
  PyObject* result = PyObject_Call(fn, arguments, keywords);
  Py_DECREF(fn);
  // In a child that was forked inside the call, the range that the hook opened is not open.
  if (begun && forks() == forks_before && is_set(self->slots[kBefore])) {
    RaisedError error;
    if (!result) error.take();
    if (hook->after(*thread, token, !result, result ? result : Py_None) || swallow_error(self)) {
      if (!result) error.give_back();
    } else {
      error.drop();
      keep(result, nullptr);
    }
  }
  Py_XDECREF(token.object);
  return result;
}

PyObject* call(PyObject* object, PyObject* arguments, PyObject* keywords) {
  Caller* self = caller(object);
  PyObject* fn = self->slots[kFn];
  if (!fn) return not_ready();
  PyObject* native = self->slots[kBefore];
  if (native && Py_TYPE(native) == g_hook_type)
    return call_in(reinterpret_cast<Hook*>(native), self, fn, arguments, keywords);
  bool interrupted = false;
  PyObject* token = Py_None;
  Py_INCREF(token);
  if (is_set(self->slots[kBefore])) {
    Py_DECREF(token);
    token = call_hook(self, self->slots[kBefore], interrupted, arguments,
                      keywords ? keywords : Py_None);
    if (interrupted) return nullptr;
  }
  std::uint32_t forks_before = forks();
  Py_INCREF(fn);
  PyObject* result = PyObject_Call(fn, arguments, keywords);
  Py_DECREF(fn);
  // In a child that was forked inside the call, the range that the hook opened is not open.
  if (token && is_set(self->slots[kAfter]) && forks() == forks_before) {
    RaisedError error;
    error.take();
    PyObject* done = call_hook(self, self->slots[kAfter], interrupted, token,
                               error.type ? Py_True : Py_False, result ? result : Py_None);
    if (interrupted) {
      error.drop();
      keep(result, nullptr);
    } else {
      error.give_back();
      if (result && is_set(done)) keep(result, done);
    }
    Py_XDECREF(done);
  }
  Py_XDECREF(token);
  return result;
}

/// The registered name of a module, or null. If it is not known, `resolve` in Python finds and
/// stores it.
nvtxStringHandle_t name_of(Caller* self, PyObject* module, Thread& thread, bool& interrupted) {
  PyObject* key = PyLong_FromVoidPtr(module);
  if (!key) {
    PyErr_Clear();
    return nullptr;
  }
  PyObject* found = PyDict_GetItemWithError(self->slots[kNames], key);  // borrowed
  Py_DECREF(key);
  Py_XINCREF(found);
  if (!found) {
    auto* outermost = static_cast<PyObject*>(thread.outermost);
    found = call_hook(self, self->slots[kResolve], interrupted, module, outermost);
  }
  if (!found) return nullptr;
  void* handle = PyLong_AsVoidPtr(found);
  Py_DECREF(found);
  if (PyErr_Occurred()) PyErr_Clear();
  return static_cast<nvtxStringHandle_t>(handle);
}

/// The phase of an outermost module call.
Phase phase_of(Caller* self, const Thread& thread) {
  if (thread.phase == kPhaseFromOutside) return Phase::kNone;
  if (thread.phase != kPhaseByGradMode) return static_cast<Phase>(thread.phase);
  if (backward_passes() > 0) return Phase::kBackward;  // recomputed on autograd's own thread
  PyObject* enabled = PyObject_CallObject(self->slots[kGradEnabled], nullptr);
  if (!enabled) PyErr_Clear();
  bool evaluates = enabled == Py_False;
  Py_XDECREF(enabled);
  return evaluates ? Phase::kEvaluation : Phase::kForward;
}

PyObject* module_call(PyObject* object, PyObject* arguments, PyObject* keywords) {
  Caller* self = caller(object);
  PyObject* fn = self->slots[kFn];
  if (!fn) return not_ready();
  Thread& thread = this_thread();
  nvtxStringHandle_t name = nullptr;
  bool outermost = thread.module_depth == 0;
  if (PyTuple_Size(arguments) > 0 && is_set(self->slots[kNames])) {
    PyObject* module = PyTuple_GetItem(arguments, 0);  // borrowed
    if (outermost) thread.outermost = module;
    bool interrupted = false;
    name = name_of(self, module, thread, interrupted);
    if (interrupted) return nullptr;
  }
  if (!name) return PyObject_Call(fn, arguments, keywords);
  RangePayload payload;
  if (outermost) {
    payload.kind = static_cast<std::uint32_t>(RangeKind::kPhase);
    payload.phase = static_cast<std::uint32_t>(phase_of(self, thread));
    if (payload.phase == 0) payload.kind = static_cast<std::uint32_t>(RangeKind::kOther);
  }
  Nvtx::push(name, payload);
  ++thread.module_depth;
  if (outermost) ++thread.outermost_calls;
  std::int32_t open = thread.open;
  std::uint32_t forks_before = forks();
  PyObject* result = PyObject_Call(fn, arguments, keywords);
  if (forks() == forks_before) {
    while (thread.open > open) Nvtx::pop();  // ranges that a failed hook left open
    if (thread.open == open) Nvtx::pop();
    --thread.module_depth;
    if (outermost) thread.outermost = nullptr;
  }
  return result;
}

int init(PyObject* object, PyObject* arguments, PyObject*) {
  PyObject* values[5] = {};
  Py_ssize_t count = PyTuple_Size(arguments);
  if (count < 4 || count > 5) {
    PyErr_SetString(PyExc_TypeError,
                    "Call(fn, before, after, failed) or ModuleCall(fn, names, resolve, "
                    "grad_enabled, failed)");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) values[i] = PyTuple_GetItem(arguments, i);
  values[kFailed] = values[count - 1];
  for (int i = 0; i < 5; ++i) keep(caller(object)->slots[i], values[i]);
  return 0;
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (object && object != Py_None)
    return PyObject_CallFunctionObjArgs(g_method_type, self, object, nullptr);
  Py_INCREF(self);
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  for (PyObject* slot : caller(self)->slots) Py_VISIT(slot);
  return 0;
}

int clear(PyObject* self) {
  for (PyObject*& slot : caller(self)->slots) keep(slot, nullptr);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  free_object(self);
}

bool add_type(PyObject* module, const char* name, const char* full_name, ternaryfunc function) {
  PyType_Slot slots[] = {
      {Py_tp_init, pointer(init)},         {Py_tp_new, pointer(PyType_GenericNew)},
      {Py_tp_call, pointer(function)},     {Py_tp_descr_get, pointer(bind)},
      {Py_tp_traverse, pointer(traverse)}, {Py_tp_clear, pointer(clear)},
      {Py_tp_dealloc, pointer(dealloc)},   {0, nullptr}};
  PyType_Spec spec = {full_name, sizeof(Caller), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpec(&spec);
  return type && PyModule_AddObject(module, name, type) == 0;  // steals on success
}

bool add_hook_type() {
  PyType_Slot slots[] = {{Py_tp_dealloc, pointer(free_object)}, {0, nullptr}};
  PyType_Spec spec = {"_headway_nvtx.Hook", sizeof(Hook), 0, Py_TPFLAGS_DEFAULT, slots};
  g_hook_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return g_hook_type != nullptr;
}

}  // namespace

bool add_call_types(PyObject* module) {
  PyObject* types = PyImport_ImportModule("types");
  if (!types) return false;
  g_method_type = PyObject_GetAttrString(types, "MethodType");
  Py_DECREF(types);
  return g_method_type && add_type(module, "Call", "_headway_nvtx.Call", call) &&
         add_type(module, "ModuleCall", "_headway_nvtx.ModuleCall", module_call) && add_hook_type();
}

bool add_hook(PyObject* module, const char* name, Before before, After after) {
  PyObject* made = PyType_GenericAlloc(g_hook_type, 0);
  if (!made) return false;
  reinterpret_cast<Hook*>(made)->before = before;
  reinterpret_cast<Hook*>(made)->after = after;
  return PyModule_AddObject(module, name, made) == 0;  // steals on success
}

}  // namespace headway::pytorch
