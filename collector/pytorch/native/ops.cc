// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/ops.h"

#include <cstdint>
#include <vector>

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/objects.h"
#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

constexpr std::size_t kMostNodes = 16;  ///< limit for one op; cross_entropy makes two

OpHooks g_hooks;
bool g_on = false;
std::int64_t g_next = 0;          ///< number of the next op
PyObject* g_functions = nullptr;  ///< {function: handle of its name, or 0}
PyObject* g_nodes = nullptr;      ///< {type of a node: handle, 0 for a leaf's, None: ask each node}
PyTypeObject* g_before = nullptr;  ///< type of the hook in front of a node
PyObject* g_after = nullptr;       ///< the hook behind it, one for all
PyObject *g_grad_fn, *g_next_functions, *g_register_prehook, *g_register_hook, *g_node_name;

/// A list of owned references; the destructor releases those that are left.
struct Owned {
  std::vector<PyObject*> all;
  ~Owned() {
    for (PyObject* one : all) Py_DECREF(one);
  }
  bool has(PyObject* object) const {
    for (PyObject* one : all)
      if (one == object) return true;
    return false;
  }
};

// ---- what autograd calls around a node

struct NodeRange {
  PyObject_HEAD nvtxStringHandle_t name;
  std::int64_t number;
};

PyObject* begin_node(PyObject* self, PyObject*, PyObject*) {
  const auto* range = reinterpret_cast<NodeRange*>(self);
  RangePayload payload(RangeKind::kOp, Phase::kBackward);
  payload.sequence = range->number;
  Nvtx::push(range->name, payload);
  Py_RETURN_NONE;
}

PyObject* end_node(PyObject*, PyObject*) {
  Nvtx::pop();
  Py_RETURN_NONE;
}

PyMethodDef g_end_node = {"end_node", end_node, METH_VARARGS, nullptr};

// ---- which nodes

bool is_tensor(PyObject* object) {
  auto* tensor = reinterpret_cast<PyTypeObject*>(g_hooks.tensor_type);
  return Py_TYPE(object) == tensor || PyType_IsSubtype(Py_TYPE(object), tensor);
}

/// A new reference to grad_fn; null when the object is not a tensor or has none, or with a Python error set.
PyObject* grad_fn_of(PyObject* object) {
  if (!is_tensor(object)) return nullptr;
  PyObject* node = PyObject_GetAttr(object, g_grad_fn);
  if (node != Py_None) return node;
  Py_DECREF(node);
  return nullptr;
}

/// Calls `visit` for the object, or for each object in a tuple or list, until `visit` returns false.
template <class Visit>
void for_each(PyObject* object, Visit visit) {
  const bool is_tuple = PyTuple_Check(object);
  if (!is_tuple && !PyList_Check(object)) {
    visit(object);
    return;
  }
  for (Py_ssize_t i = 0; i < (is_tuple ? PyTuple_Size(object) : PyList_Size(object)); ++i)
    if (!visit(is_tuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i))) return;
}

/// The handle of a text object, as a new reference.
PyObject* handle_of_text(PyObject* text) {
  return text ? PyObject_CallFunctionObjArgs(g_hooks.name, text, nullptr) : nullptr;
}

/// The entry of g_nodes for a node type, as a new reference; null with an error set.
PyObject* look_at_type(PyObject* node, PyObject* type) {
  // The node of a leaf lives as long as its parameter, so a hook on it would stay.
  if (PyObject_HasAttrString(type, "variable")) return PyLong_FromLong(0);
  PyObject* of_type = PyObject_GetAttrString(type, "__name__");
  PyObject* text = of_type ? PyObject_CallMethodObjArgs(node, g_node_name, nullptr) : nullptr;
  PyObject* kept = nullptr;
  // Some nodes share a Python type and have different names: the type's name is then not the node's.
  const int same = text ? PyObject_RichCompareBool(of_type, text, Py_EQ) : -1;
  if (same == 1) kept = handle_of_text(text);
  if (same == 0) {
    kept = Py_None;
    Py_INCREF(kept);
  }
  Py_XDECREF(of_type);
  Py_XDECREF(text);
  return kept;
}

/// Finds the name of a node; null for a leaf's node. False with an error set.
bool name_of(PyObject* node, nvtxStringHandle_t& name) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(node));
  PyObject* kept = PyDict_GetItemWithError(g_nodes, type);  // borrowed
  Py_XINCREF(kept);
  if (!kept) {
    if (PyErr_Occurred()) return false;
    kept = look_at_type(node, type);
    if (!kept) return false;
    PyDict_SetItem(g_nodes, type, kept);
  }
  if (kept == Py_None) {
    Py_DECREF(kept);
    PyObject* text = PyObject_CallMethodObjArgs(node, g_node_name, nullptr);
    kept = handle_of_text(text);
    Py_XDECREF(text);
    if (!kept) return false;
  }
  name = static_cast<nvtxStringHandle_t>(PyLong_AsVoidPtr(kept));
  Py_DECREF(kept);
  return !PyErr_Occurred();
}

bool call_with(PyObject* object, PyObject* method, PyObject* argument) {
  PyObject* result = PyObject_CallMethodObjArgs(object, method, argument, nullptr);
  Py_XDECREF(result);
  return result != nullptr;
}

/// Hooks a node. `value`: the op's result to which the node belongs. `inner`: whether to go on to the nodes
/// behind it. False with an error set.
bool hook(PyObject* value, PyObject* node, nvtxStringHandle_t name, std::int64_t number,
          bool& inner) {
  PyObject* before = PyType_GenericAlloc(g_before, 0);
  if (!before) return false;
  reinterpret_cast<NodeRange*>(before)->name = name;
  reinterpret_cast<NodeRange*>(before)->number = number;
  // Before PyTorch 2 nodes have no pre-hooks: the tensor's hook runs just before its node, and inner nodes
  // have no hook.
  static const int has_prehooks = PyObject_HasAttr(node, g_register_prehook);
  inner = has_prehooks != 0;
  const bool good =
      call_with(inner ? node : value, inner ? g_register_prehook : g_register_hook, before) &&
      call_with(node, g_register_hook, g_after);
  Py_DECREF(before);
  return good;
}

bool append_next(PyObject* node, Owned& waiting) {
  PyObject* next = PyObject_GetAttr(node, g_next_functions);
  if (!next) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(next); ++i) {
    PyObject* one = PyTuple_GetItem(PyTuple_GetItem(next, i), 0);
    if (!one || one == Py_None) continue;
    Py_INCREF(one);
    waiting.all.push_back(one);
  }
  Py_DECREF(next);
  return !PyErr_Occurred();
}

/// Hooks the nodes between the results of an op and its inputs. False with an error set.
bool watch_nodes(PyObject* out, PyObject* arguments, std::int64_t number) {
  PyObject* value = nullptr;
  PyObject* first = nullptr;
  for_each(out, [&](PyObject* one) {
    first = grad_fn_of(value = one);
    return !first && !PyErr_Occurred();
  });
  if (!first) return !PyErr_Occurred();
  Owned waiting, seen, before;
  waiting.all.push_back(first);
  PyObject* enabled = PyObject_CallObject(g_hooks.grad_enabled, nullptr);
  Py_XDECREF(enabled);
  if (enabled != Py_True) return enabled != nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_Size(arguments); ++i)
    for_each(PyTuple_GetItem(arguments, i), [&](PyObject* one) {
      if (PyObject* node = grad_fn_of(one)) before.all.push_back(node);
      return !PyErr_Occurred();
    });
  while (!PyErr_Occurred() && !waiting.all.empty() && seen.all.size() < kMostNodes) {
    PyObject* node = waiting.all.back();
    waiting.all.pop_back();
    if (seen.has(node) || before.has(node)) {
      Py_DECREF(node);
      continue;
    }
    seen.all.push_back(node);
    nvtxStringHandle_t name = nullptr;
    bool inner = false;
    if (!name_of(node, name)) break;
    if (!name) {
      seen.all.pop_back();
      Py_DECREF(node);
      continue;
    }
    if (!hook(value, node, name, number, inner)) break;
    if (inner && !append_next(node, waiting)) break;
  }
  return !PyErr_Occurred();
}

// ---- ops

/// Called when a hook of ours has raised: switches ops off. False when the error is the program's (Ctrl-C
/// meanwhile); it then stays set.
bool switch_off() {
  if (!swallow(g_hooks.failed)) return false;
  g_on = false;
  return true;
}

/// The name of an op's range; null: the op has no range, or an error of the program is set.
nvtxStringHandle_t name_of_function(PyObject* function) {
  PyObject* known = PyDict_GetItemWithError(g_functions, function);  // borrowed
  Py_XINCREF(known);
  if (!known && !PyErr_Occurred()) {
    known = PyObject_CallFunctionObjArgs(g_hooks.resolve, function, nullptr);
    if (known) PyDict_SetItem(g_functions, function, known);
  }
  auto* name = known ? static_cast<nvtxStringHandle_t>(PyLong_AsVoidPtr(known)) : nullptr;
  Py_XDECREF(known);
  if (PyErr_Occurred()) switch_off();
  return name;
}

PyObject* call_op(PyObject* function, PyObject* arguments, PyObject* keywords) {
  nvtxStringHandle_t name = g_on ? name_of_function(function) : nullptr;
  if (!name) return PyErr_Occurred() ? nullptr : PyObject_Call(function, arguments, keywords);
  const std::int64_t number = g_next++;
  RangePayload payload(RangeKind::kOp, Phase::kNone);
  payload.sequence = number;
  Nvtx::push(name, payload);
  PyObject* out = PyObject_Call(function, arguments, keywords);
  Nvtx::pop();  // does nothing in a child that was forked inside the call
  if (out && g_on && !watch_nodes(out, arguments, number) && !switch_off()) {
    Py_DECREF(out);
    return nullptr;
  }
  return out;
}

PyObject* call_as_mode(PyObject*, PyObject* arguments, PyObject*) {
  PyObject *function = nullptr, *types = nullptr, *given = nullptr, *keywords = nullptr;
  if (!PyArg_UnpackTuple(arguments, "__torch_function__", 2, 4, &function, &types, &given,
                         &keywords))
    return nullptr;
  if (keywords && (!PyDict_Check(keywords) || PyDict_Size(keywords) == 0)) keywords = nullptr;
  PyObject* tuple = given ? PySequence_Tuple(given) : PyTuple_New(0);
  if (!tuple) return nullptr;
  PyObject* out = call_op(function, tuple, keywords);
  Py_DECREF(tuple);
  return out;
}

PyObject* mode_of(PyObject*, void*) {
  PyObject* mode = g_hooks.mode ? g_hooks.mode : Py_None;
  Py_INCREF(mode);
  return mode;
}

// PyTorch treats a function whose `__self__` is not the mode as a class method.
PyGetSetDef g_attributes[] = {{"__self__", mode_of, nullptr, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void start_ops(const OpHooks& hooks) {
  keep(g_hooks.mode, hooks.mode);
  keep(g_hooks.tensor_type, hooks.tensor_type);
  keep(g_hooks.grad_enabled, hooks.grad_enabled);
  keep(g_hooks.resolve, hooks.resolve);
  keep(g_hooks.name, hooks.name);
  keep(g_hooks.failed, hooks.failed);
  g_on = true;
}

void stop_ops() {
  g_on = false;
}

bool add_op_types(PyObject* module) {
  PyType_Slot node_slots[] = {
      {Py_tp_call, pointer(begin_node)}, {Py_tp_dealloc, pointer(free_object)}, {0, nullptr}};
  PyType_Spec node = {"_headway_nvtx.NodeRange", sizeof(NodeRange), 0, Py_TPFLAGS_DEFAULT,
                      node_slots};
  g_before = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&node));
  PyType_Slot function_slots[] = {{Py_tp_call, pointer(call_as_mode)},
                                  {Py_tp_getset, g_attributes},
                                  {Py_tp_new, pointer(PyType_GenericNew)},
                                  {Py_tp_dealloc, pointer(free_object)},
                                  {0, nullptr}};
  PyType_Spec function = {"_headway_nvtx.TorchFunction", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT,
                          function_slots};
  PyObject* function_type = PyType_FromSpec(&function);
  g_after = PyCFunction_New(&g_end_node, nullptr);
  g_functions = PyDict_New();
  g_nodes = PyDict_New();
  g_grad_fn = PyUnicode_InternFromString("grad_fn");
  g_next_functions = PyUnicode_InternFromString("next_functions");
  g_register_prehook = PyUnicode_InternFromString("register_prehook");
  g_register_hook = PyUnicode_InternFromString("register_hook");
  g_node_name = PyUnicode_InternFromString("name");
  return g_before && g_after && g_functions && g_nodes && g_node_name && function_type &&
         PyModule_AddObject(module, "TorchFunction", function_type) == 0;  // steals on success
}

}  // namespace headway::pytorch
