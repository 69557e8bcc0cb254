// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/faults.h"

#include <sys/resource.h>

#include "collector/pytorch/native/nvtx.h"
#include "collector/pytorch/native/per_thread.h"

namespace headway::pytorch {
namespace {

constexpr std::int64_t kWarmUp = 8;  ///< the first steps, which do not count
constexpr std::int64_t kFirst =
    32;  ///< reported after this many steps, after four times as many, and so on
constexpr std::int64_t kLater = 4;
constexpr int kAfterFork = 2;  ///< steps left out after a fork: copy-on-write adds faults
constexpr std::int64_t kMost = 256;

std::int64_t g_of_steps[kMost];  ///< faults of the latest steps
std::int64_t g_counted = 0;
std::int64_t g_ended = 0;
std::int64_t g_next = kFirst;
int g_skipped = 0;
std::uint32_t g_fork = 0;  ///< the process in which steps are counted
PyObject* g_tell = nullptr;

PyObject* start_faults(PyObject*, PyObject* tell) {
  keep(g_tell, tell);
  Py_RETURN_NONE;
}

PyObject* faults_per_step(PyObject*, PyObject*) {
  const std::int64_t count = g_counted < kMost ? g_counted : kMost;
  if (count == 0 || g_fork != forks()) Py_RETURN_NONE;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(g_of_steps[i]);
  return PyFloat_FromDouble(sum / static_cast<double>(count));
}

PyObject* forked_a_child(PyObject*, PyObject*) {
  g_skipped = kAfterFork;
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"start_faults", start_faults, METH_O,
     "start_faults(tell): tell() is called after 32 steps, after four times as many, and so on."},
    {"faults_per_step", faults_per_step, METH_NOARGS,
     "The mean of the latest steps of this process, or None."},
    {"forked_a_child", forked_a_child, METH_NOARGS,
     "To be called in each process that forked another: two steps do not count."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::int64_t page_faults() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : 0;
}

bool step_ended(std::int64_t faults) {
  if (g_ended == 0) g_fork = forks();
  if (g_fork != forks()) return true;
  ++g_ended;
  if (g_skipped > 0)
    --g_skipped;
  else if (g_ended > kWarmUp)
    g_of_steps[g_counted++ % kMost] = faults;
  if (g_ended != g_next) return true;
  g_next *= kLater;
  PyObject* told = g_tell ? PyObject_CallObject(g_tell, nullptr) : nullptr;
  Py_XDECREF(told);
  return !PyErr_Occurred();
}

bool add_fault_functions(PyObject* module) {
  return PyModule_AddFunctions(module, g_functions) == 0;
}

}  // namespace headway::pytorch
