// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/making.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "collector/pytorch/native/calls.h"
#include "collector/pytorch/native/nvtx.h"

namespace headway::pytorch {
namespace {

using conventions::Phase;
using conventions::RangeKind;

constexpr std::int64_t kTickNs = 10'000'000;

/// This process, when it is a worker of a loader.
struct Worker {
  bool is_one = false;
  std::int64_t base = 0;
  std::int64_t workers = 0;
  std::int64_t worker = 0;
  std::int64_t epoch = -1;
  std::int64_t made = 0;

  std::int64_t next_batch() {
    const std::int64_t passes = epoch > 0 ? epoch : 0;
    return base + passes * kEpochs + worker + made++ * workers;
  }
};

Worker g_worker;
nvtxStringHandle_t g_batch, g_samples, g_decode, g_collate;
PyObject* g_make_draws = nullptr;

std::int32_t push(nvtxStringHandle_t name, RangeKind kind, std::int64_t batch) {
  return Nvtx::push(name, {kind, Phase::kInput, batch});
}

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// How long the thread has waited for a processor so far.
std::int64_t delays_ns(Making& making) {
  if (making.delays == -2)
    making.delays = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (making.delays < 0) return 0;
  char text[64] = {};
  if (pread(making.delays, text, sizeof text - 1, 0) <= 0) {
    close(making.delays);
    making.delays = -1;
    return 0;
  }
  char* second = text;
  std::strtoll(text, &second, 10);
  return std::strtoll(second, nullptr, 10);
}

void begin_stage(Making& making) {
  making.wall_ns = now_ns(CLOCK_MONOTONIC);
  making.ran_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);  // schedstat lags by up to a tick
}

/// Ends the range of a stage and decides whether it was `kind` or reading. A thread that mostly neither ran nor waited
/// for a processor was reading. Samples (kDecode) may be short; other stages count as reading only after waiting longer
/// than a tick.
void end_stage(Making& making, RangeKind kind) {
  const bool is_short_told = kind == RangeKind::kDecode;
  const std::int64_t wall = making.wall_ns;
  const std::int64_t ran = making.ran_ns;
  making.wall_ns = now_ns(CLOCK_MONOTONIC);
  const std::int64_t took = making.wall_ns - wall;
  bool waited = false;
  if (is_short_told || took > kTickNs) {  // else the time it ran makes no difference
    making.ran_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    std::int64_t busy = making.ran_ns - ran;
    if (is_short_told || took - busy > kTickNs) {
      const std::int64_t delayed = making.delayed_ns;
      making.delayed_ns = delays_ns(making);
      busy += making.delayed_ns - delayed;
    }
    waited = took > 2 * busy && (is_short_told || took - busy > kTickNs);
  }
  Nvtx::pop({waited ? RangeKind::kRead : kind, Phase::kInput, making.batch});
}

bool begin_draws(Making& making) {
  if (making.draws_are_known) return true;
  if (!making.draws) making.draws = PyObject_CallObject(g_make_draws, nullptr);
  PyObject* begun = making.draws ? PyObject_CallMethod(making.draws, "begin", nullptr) : nullptr;
  making.draws_began = begun != nullptr;
  Py_XDECREF(begun);
  return begun != nullptr;
}

/// For the first batches: ends the look at the random generators, which says whether it has seen enough.
bool end_draws(Making& making) {
  if (!making.draws_began) return true;
  making.draws_began = false;
  PyObject* enough = PyObject_CallMethod(making.draws, "end", nullptr);
  making.draws_are_known = enough == Py_True;
  Py_XDECREF(enough);
  return enough != nullptr;
}

bool begin(Making& making, std::int64_t batch, bool alone = true) {
  making.has_batch = true;
  making.batch = batch;
  making.depth = push(g_batch, RangeKind::kBatch, batch);
  push(g_samples, RangeKind::kDecode, batch);
  making.is_reading = true;
  making.is_decoding = false;
  if (making.in_memory) return true;
  const bool good = !alone || begin_draws(making);
  making.delayed_ns = delays_ns(making);
  begin_stage(making);
  return good;
}

bool end_samples(Making& making) {
  making.is_reading = false;
  if (making.in_memory) {
    Nvtx::pop({RangeKind::kCollate, Phase::kInput, making.batch});
    begin_stage(making);
  } else {
    end_stage(making, RangeKind::kDecode);
  }
  return end_draws(making);
}

bool end(Making& making) {
  bool good = true;
  if (making.has_batch) {
    if (making.is_reading) {
      Nvtx::pop_to(making.depth + 2);
      good = end_samples(making);
    }
    Nvtx::pop_to(making.depth);
  }
  making.has_batch = false;
  making.level = 0;
  making.samples = 0;
  return good;
}

// ---- around functions of the program

bool before_collate(PerThread& thread, PyObject*, PyObject*, Token&) {
  Making& making = thread.making;
  if (!making.is_active) return true;
  bool good = true;
  if (!making.has_batch && g_worker.is_one) {  // no sample was seen, or the dataset has ended
    const bool has_partial = making.has_partial;
    making.has_partial = false;
    good = begin(making, has_partial ? making.partial : g_worker.next_batch());
  }
  if (making.is_reading) {
    Nvtx::pop_to(making.depth + 2);
    good = end_samples(making) && good;
  } else if (making.has_batch) {  // collate is called again for this batch
    begin_stage(making);
  }
  push(g_collate, RangeKind::kCollate, making.has_batch ? making.batch : conventions::kAbsent);
  return good;
}

bool after_collate(PerThread& thread, Token&, bool, PyObject*) {
  Making& making = thread.making;
  if (!making.is_active) return true;
  if (making.has_batch && this_thread().open >= making.depth + 2) {
    Nvtx::pop_to(making.depth + 2);
    end_stage(making, RangeKind::kCollate);
  }
  return !g_worker.is_one || end(making);
}

/// Opens a decode range inside the samples of a batch; None elsewhere and inside another decode range.
PyObject* begin_decoding(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  Making& making = thread->making;
  if (!making.is_reading || making.is_decoding) Py_RETURN_NONE;
  making.is_decoding = true;
  return PyLong_FromLong(push(g_decode, RangeKind::kDecode, making.batch));
}

PyObject* end_decoding(PyObject*, PyObject* arguments) {
  PyObject* before = PyTuple_GetItem(arguments, 0);
  PerThread* thread = before ? per_thread() : nullptr;
  if (!thread) return nullptr;
  if (before == Py_None) Py_RETURN_NONE;
  thread->making.is_decoding = false;
  const long count = PyLong_AsLong(before);
  if (PyErr_Occurred()) return nullptr;
  Nvtx::pop_to(static_cast<std::int32_t>(count));
  Py_RETURN_NONE;
}

bool before_sample(PerThread& thread, PyObject*, PyObject*, Token&) {
  Making& making = thread.making;
  if (!making.is_active) return true;
  bool good = true;
  if (making.level == 0 && !making.has_batch) good = begin(making, g_worker.next_batch());
  ++making.level;
  return good;
}

bool after_sample(PerThread& thread, Token&, bool failed, PyObject*) {
  Making& making = thread.making;
  if (!making.is_active || making.level == 0) return true;
  --making.level;
  return !failed || making.level > 0 || end(making);
}

bool after_next_sample(PerThread& thread, Token&, bool failed, PyObject*) {
  Making& making = thread.making;
  if (!making.is_active || making.level == 0) return true;
  --making.level;
  if (!failed) {
    ++making.samples;
    return true;
  }
  if (making.level > 0) return true;
  if (making.samples > 0) {  // mostly the end of the dataset
    making.has_partial = making.has_batch;
    making.partial = making.batch;
  } else {
    --g_worker.made;
  }
  return end(making);
}

// ---- for Python

PyObject* start_making(PyObject*, PyObject* make_draws) {
  keep(g_make_draws, make_draws);
  g_batch = Nvtx::intern("batch");
  g_samples = Nvtx::intern("samples");
  g_decode = Nvtx::intern("decode");
  g_collate = Nvtx::intern("collate");
  Py_RETURN_NONE;
}

PyObject* become_worker(PyObject*, PyObject* arguments) {
  long long base = 0;
  long long workers = 0;
  long long worker = 0;
  if (!PyArg_ParseTuple(arguments, "LLL", &base, &workers, &worker)) return nullptr;
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  g_worker = {};
  g_worker.is_one = true;
  g_worker.base = base;
  g_worker.workers = workers;
  g_worker.worker = worker;
  forget_making(thread->making);
  thread->making.is_active = true;
  Py_RETURN_NONE;
}

PyObject* set_in_memory(PyObject*, PyObject* in_memory) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  thread->making.in_memory = in_memory == Py_True;
  Py_RETURN_NONE;
}

PyObject* pass_begins(PyObject*, PyObject*) {
  PerThread* thread = per_thread();
  if (!thread) return nullptr;
  if (!thread->making.is_active || thread->making.has_batch) Py_RETURN_FALSE;
  ++g_worker.epoch;
  g_worker.made = 0;
  Py_RETURN_TRUE;
}

PyMethodDef g_functions[] = {
    {"start_making", start_making, METH_O,
     "start_making(Draws): before any of the others; Draws().begin() and .end(), which says "
     "whether "
     "it has seen enough."},
    {"begin_decoding", begin_decoding, METH_VARARGS,
     "Opens a range inside the samples of a batch -> token for end_decoding()."},
    {"end_decoding", end_decoding, METH_VARARGS, "Closes the range of begin_decoding()."},
    {"become_worker", become_worker, METH_VARARGS,
     "become_worker(base, workers, worker): this is worker `worker` of `workers`; its batches "
     "are numbered from `base`."},
    {"set_in_memory", set_in_memory, METH_O, "Samples of the worker's dataset are made already."},
    {"pass_begins", pass_begins, METH_NOARGS,
     "In a worker, a pass over an iterable dataset begins. False inside a batch: no new pass."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool begin_here(Making& making, std::int64_t batch, bool in_memory, bool alone) {
  making.is_active = true;
  making.in_memory = in_memory;
  return begin(making, batch, alone);
}

bool end_here(Making& making) {
  if (!making.is_active || g_worker.is_one) return true;
  making.is_active = false;
  return end(making);
}

bool add_making_functions(PyObject* module) {
  return PyModule_AddFunctions(module, g_functions) == 0 &&
         add_hook(module, "around_collate", before_collate, after_collate) &&
         add_hook(module, "around_sample", before_sample, after_sample) &&
         add_hook(module, "around_next_sample", before_sample, after_next_sample);
}

}  // namespace headway::pytorch
