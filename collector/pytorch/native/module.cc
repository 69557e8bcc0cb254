// SPDX-License-Identifier: MIT
// The Python module _headway_nvtx: NVTX for the hooks of headway_pytorch, and the callables that
// replace functions of PyTorch and of the program. The callables are native because a Python frame
// would show in every traceback of the program, and would cost ten times as much.
#include "collector/pytorch/native/python.h"

#include "collector/pytorch/native/calls.h"
#include "collector/pytorch/native/faults.h"
#include "collector/pytorch/native/loading.h"
#include "collector/pytorch/native/making.h"
#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/ops.h"
#include "collector/pytorch/native/owners.h"
#include "collector/pytorch/native/sampler.h"
#include "collector/pytorch/native/steps.h"
#include "collector/pytorch/native/updates.h"

namespace headway::pytorch {
namespace {

PyObject* start(PyObject*, PyObject*) {
  return PyBool_FromLong(Nvtx::start());
}

PyObject* intern(PyObject*, PyObject* arguments) {
  const char* text = nullptr;
  if (!PyArg_ParseTuple(arguments, "s", &text)) return nullptr;
  return PyLong_FromVoidPtr(const_cast<nvtxStringRegistration_st*>(Nvtx::intern(text)));
}

PyObject* push(PyObject*, PyObject* arguments) {
  unsigned long long name = 0;
  unsigned int kind = 0;
  unsigned int phase = 0;
  long long batch = conventions::kAbsent;
  long long step = conventions::kAbsent;
  long long sequence = conventions::kAbsent;
  long long op = conventions::kAbsent;
  if (!PyArg_ParseTuple(arguments, "K|IILLLL", &name, &kind, &phase, &batch, &step, &sequence, &op))
    return nullptr;
  RangePayload payload;
  payload.kind = kind;
  payload.phase = phase;
  payload.batch = batch;
  payload.step = step;
  payload.sequence = sequence;
  payload.op = op;
  return PyLong_FromLong(Nvtx::push(handle_of(name), payload));
}

PyObject* pop(PyObject*, PyObject*) {
  Nvtx::pop();
  Py_RETURN_NONE;
}

PyObject* pop_as(PyObject*, PyObject* arguments) {
  unsigned int kind = 0;
  unsigned int phase = 0;
  if (!PyArg_ParseTuple(arguments, "II", &kind, &phase)) return nullptr;
  RangePayload payload;
  payload.kind = kind;
  payload.phase = phase;
  Nvtx::pop(payload);
  Py_RETURN_NONE;
}

PyObject* open_ranges(PyObject*, PyObject*) {
  return PyLong_FromLong(this_thread().open);
}

PyObject* pop_to(PyObject*, PyObject* arguments) {
  int count = 0;
  PyObject* unused[2];
  if (!PyArg_ParseTuple(arguments, "i|OO", &count, &unused[0], &unused[1])) return nullptr;
  Nvtx::pop_to(count);
  Py_RETURN_NONE;
}

PyObject* setting(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  const char* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss", &name, &value)) return nullptr;
  Nvtx::mark_setting(name, value);
  Py_RETURN_NONE;
}

PyObject* pause_cuda(PyObject*, PyObject* arguments) {
  int pause = 0;
  if (!PyArg_ParseTuple(arguments, "p", &pause)) return nullptr;
  return PyBool_FromLong(Nvtx::pause_cuda(pause != 0));
}

PyObject* name_thread(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  if (!PyArg_ParseTuple(arguments, "s", &name)) return nullptr;
  Nvtx::name_this_thread(name);
  Py_RETURN_NONE;
}

PyObject* sample(PyObject*, PyObject* arguments) {
  PyObject* prefixes = nullptr;
  PyObject* failed = nullptr;
  int signals = 0;
  if (!PyArg_ParseTuple(arguments, "OpO", &prefixes, &signals, &failed)) return nullptr;
  if (!start_sampler(prefixes, signals != 0, failed)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* signalled(PyObject*, PyObject*) {
  if (!answer_signal()) return nullptr;
  Py_RETURN_NONE;
}

PyObject* stop_sampling(PyObject*, PyObject*) {
  stop_sampler();
  Py_RETURN_NONE;
}

PyObject* start_ops(PyObject*, PyObject* arguments) {
  OpHooks hooks;
  if (!PyArg_ParseTuple(arguments, "OOOOOO", &hooks.mode, &hooks.tensor_type, &hooks.grad_enabled,
                        &hooks.resolve, &hooks.name, &hooks.failed))
    return nullptr;
  pytorch::start_ops(hooks);
  Py_RETURN_NONE;
}

PyObject* stop_ops(PyObject*, PyObject*) {
  pytorch::stop_ops();
  Py_RETURN_NONE;
}

PyObject* forked_child(PyObject*, PyObject*) {
  forked();
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"start", start, METH_NOARGS, "Loads the tool; False when none listens."},
    {"intern", intern, METH_VARARGS, "intern(text): the number of a name for push()."},
    {"push", push, METH_VARARGS,
     "push(name, kind, phase, batch, step, sequence, op) -> how many were open: opens a range on "
     "this thread."},
    {"pop", pop, METH_NOARGS, "Closes the innermost range of this thread, if one is open."},
    {"pop_as", pop_as, METH_VARARGS,
     "pop_as(kind, phase): closes the innermost range and declares what it was."},
    {"open_ranges", open_ranges, METH_NOARGS, "How many ranges this thread has open."},
    {"pop_to", pop_to, METH_VARARGS,
     "pop_to(count): closes ranges until `count` are open. Takes what else Call gives to `after`, "
     "for a token that push() gave."},
    {"setting", setting, METH_VARARGS, "setting(name, value): an effective setting of the run."},
    {"pause_cuda", pause_cuda, METH_VARARGS,
     "pause_cuda(pause): True when device work is recorded no longer, or again, because of it."},
    {"name_thread", name_thread, METH_VARARGS, "name_thread(text): for the tool only."},
    {"sample", sample, METH_VARARGS,
     "sample(prefixes, signals, failed): says from now on where the main thread is while no range "
     "tells."},
    {"signalled", signalled, METH_VARARGS, "The handler of SIGURG, where sample() sends signals."},
    {"stop_sampling", stop_sampling, METH_NOARGS, "To be called at exit."},
    {"start_ops", start_ops, METH_VARARGS,
     "start_ops(mode, tensor_type, grad_enabled, resolve, name, failed): TorchFunction makes "
     "ranges "
     "from here on."},
    {"stop_ops", stop_ops, METH_NOARGS, "TorchFunction only calls on."},
    {"forked", forked_child, METH_NOARGS, "To be called in each forked child."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef g_module = {PyModuleDef_HEAD_INIT,
                        "_headway_nvtx",
                        "NVTX ranges with the payloads of Headway's conventions.",
                        -1,
                        g_functions,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr};

}  // namespace
}  // namespace headway::pytorch

PyMODINIT_FUNC PyInit__headway_nvtx() {
  using namespace headway::pytorch;
  PyObject* module = PyModule_Create(&g_module);
  if (module && !(add_call_types(module) && add_op_types(module) && add_per_thread_type() &&
                  add_step_functions(module) && add_fault_functions(module) &&
                  add_making_functions(module) && add_loading_functions(module) &&
                  add_update_functions(module) && add_owner_functions(module))) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
