// SPDX-License-Identifier: MIT
// The Python module _headway_nvtx: NVTX for the hooks of headway_pytorch, and the callables that
// stand in front of functions of PyTorch and of the program. Those are native because a Python frame
// would show in every traceback of the program, and would cost ten times as much.
#include "collector/pytorch/native/python.h"

#include "collector/pytorch/native/calls.h"
#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/ops.h"
#include "collector/pytorch/native/sampler.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

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
  Thread& thread = this_thread();
  const std::int32_t before = thread.open;
  Nvtx::push(handle_of(name), payload);
  // Steps and evaluations hold whatever the program does; other ranges say what that is.
  const bool contains = kind == static_cast<unsigned int>(RangeKind::kStep) ||
                        phase == static_cast<unsigned int>(Phase::kEvaluation);
  if (contains && thread.containers == thread.open - 1) thread.containers = thread.open;
  return PyLong_FromLong(before);
}

PyObject* pop(PyObject*, PyObject*) {
  Nvtx::pop();
  Py_RETURN_NONE;
}

PyObject* pop_as(PyObject*, PyObject* arguments) {
  unsigned int kind = 0;
  unsigned int phase = 0;
  long long step = conventions::kAbsent;
  long long batch = conventions::kAbsent;
  if (!PyArg_ParseTuple(arguments, "II|LL", &kind, &phase, &step, &batch)) return nullptr;
  RangePayload payload;
  payload.kind = kind;
  payload.phase = phase;
  payload.step = step;
  payload.batch = batch;
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
  while (this_thread().open > count && this_thread().open > 0) Nvtx::pop();
  Py_RETURN_NONE;
}

PyObject* set_phase(PyObject*, PyObject* arguments) {
  unsigned int phase = 0;
  if (!PyArg_ParseTuple(arguments, "I", &phase)) return nullptr;
  unsigned long before = this_thread().phase;
  this_thread().phase = phase;
  return PyLong_FromUnsignedLong(before);
}

PyObject* enter_backward(PyObject*, PyObject* arguments) {
  unsigned long long name = 0;
  if (!PyArg_ParseTuple(arguments, "K", &name)) return nullptr;
  Thread& thread = this_thread();
  const std::int32_t open = thread.open;
  const unsigned int phase = thread.phase;
  add_backward_pass(1);
  thread.phase = kPhaseFromOutside;
  RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(RangeKind::kPhase);
  payload.phase = static_cast<std::uint32_t>(Phase::kBackward);
  Nvtx::push(handle_of(name), payload);
  return Py_BuildValue("iI", open, phase);
}

PyObject* leave_backward(PyObject*, PyObject* arguments) {
  int open = 0;
  unsigned int phase = 0;
  if (!PyArg_ParseTuple(arguments, "(iI)", &open, &phase)) return nullptr;
  add_backward_pass(-1);
  this_thread().phase = phase;
  while (this_thread().open > open && this_thread().open > 0) Nvtx::pop();
  Py_RETURN_NONE;
}

PyObject* outermost_calls(PyObject*, PyObject*) {
  return PyLong_FromLongLong(this_thread().outermost_calls);
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
  if (!PyArg_ParseTuple(arguments, "OOOOOO", &hooks.mode, &hooks.tensor_type, &hooks.grad_enabled, &hooks.resolve,
                        &hooks.name, &hooks.failed))
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
     "pop_as(kind, phase, step, batch): says now what the range was."},
    {"open_ranges", open_ranges, METH_NOARGS, "How many ranges this thread has open."},
    {"pop_to", pop_to, METH_VARARGS,
     "pop_to(count): closes ranges until `count` are open. Takes what else Call gives to `after`, "
     "for a token that push() gave."},
    {"set_phase", set_phase, METH_VARARGS,
     "set_phase(phase) -> the one before: of outermost module calls on this thread."},
    {"enter_backward", enter_backward, METH_VARARGS,
     "enter_backward(name) -> token for leave_backward(): opens the range of a backward pass."},
    {"leave_backward", leave_backward, METH_VARARGS,
     "leave_backward(token): closes it, and what was left open in it."},
    {"outermost_calls", outermost_calls, METH_NOARGS, "Of modules, on this thread, so far."},
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
     "start_ops(mode, tensor_type, grad_enabled, resolve, name, failed): TorchFunction makes ranges "
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
  PyObject* module = PyModule_Create(&headway::pytorch::g_module);
  if (module &&
      !(headway::pytorch::add_call_types(module) && headway::pytorch::add_op_types(module))) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
