// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <cstdint>
#include <vector>

namespace headway::pytorch {

/// The hooks' state of one thread. It owns its Python objects unless noted. Python frees it with the thread.

/// A range that model.eval() opened inside a step or between epochs.
struct Evaluation {
  bool is_open = false;
  std::int32_t depth = 0;   ///< number of open ranges, its own included
  std::uint32_t phase = 0;  ///< Thread::phase before
  std::int64_t calls = 0;   ///< number of outermost model calls before
};

/// The range that is open and may turn out to be a step.
struct Cycle {
  bool is_open = false;
  bool trains = false;
  bool by_update = false;  ///< ends with the next step of the anchor optimizer
  bool is_last = false;    ///< the epoch's last batch, read ahead: no fetch ends the range
  bool by_mode = false;    ///< opened as an evaluation: may still turn out to train
  std::int32_t depth = 0;  ///< number of ranges open before its own
  std::int64_t updates = 0;
  std::int64_t anchor_updates = 0;
  std::int64_t backwards = 0;
  std::int64_t calls = 0;      ///< number of outermost model calls before
  std::int64_t faults = 0;     ///< page_faults() before
  PyObject* source = nullptr;  ///< weak reference to the iterator of the latest fetch
  Evaluation evaluation;
};

struct Steps {
  Cycle cycle;
  std::int64_t steps = 0;
  std::int64_t fetches = 0;
  std::int64_t compiled_calls = 0;  ///< calls of compiled functions that do not train
  int owners = 0;                   ///< nested trainers with their own loop at work
  bool reads_ahead = false;         ///< the loop fetches a batch before it uses the previous one
  PyObject* source = nullptr;       ///< weak reference to the iterator of the latest fetch
  PyObject* loading = nullptr;      ///< the Loading of that iterator's loader, or None
  Evaluation between;
  std::vector<PyObject*> optimizers;  ///< seen so far; only compared, not owned
  PyObject* anchor = nullptr;         ///< the newest of `optimizers`; not owned
};

/// The state of making batches on a thread.
struct Making {
  bool is_active = false;    ///< the thread makes batches
  bool has_batch = false;    ///< a batch is being made
  bool has_partial = false;  ///< the dataset ended inside a batch, whose number is `partial`
  bool is_reading = false;
  bool is_decoding = false;
  bool in_memory = false;  ///< samples are in memory already: nothing is read or decoded
  std::int32_t depth = 0;
  std::int64_t level = 0;    ///< depth of nested calls of datasets
  std::int64_t samples = 0;  ///< of an iterable dataset, in this batch
  std::int64_t batch = 0;
  std::int64_t partial = 0;
  std::int64_t wall_ns = 0;     ///< begin of the stage, CLOCK_MONOTONIC
  std::int64_t ran_ns = 0;      ///< begin of the stage, the thread's CPU clock
  std::int64_t delayed_ns = 0;  ///< how long the thread has waited for a processor, as last read
  int delays = -2;              ///< descriptor of schedstat; -2: not opened yet, -1: none
  bool draws_are_known = false;
  bool draws_began = false;
  PyObject* draws = nullptr;  ///< the Python object Draws (headway_pytorch/draws.py)
};

/// A running step of an optimizer.
struct OpenStep {
  PyObject* optimizer = nullptr;  ///< only compared
  std::int32_t before = 0;        ///< number of ranges open before its own
  PyObject* closure = nullptr;    ///< Python's token for a step with a closure
};

struct PerThread {
  Steps steps;
  Making making;
  std::vector<OpenStep> open_steps;
  int passes = 0;  ///< nested backward() calls: a checkpoint recomputes
};

/// The state of the calling thread; reset in a forked child. Null with a Python error set. Call it with Python's lock
/// held.
PerThread* per_thread();
/// Drops the current batch and all other state of making batches.
void forget_making(Making& making);
bool add_per_thread_type();

/// Sets `slot` to `value`: takes a reference to the new object and releases the old one. Both may be null.
void keep(PyObject*& slot, PyObject* value);
/// Called when a hook of ours has raised: passes the error to `failed`, if that is a callable, and clears it. False when
/// the error is the program's (Ctrl-C meanwhile); it then stays set.
bool swallow(PyObject* failed);
/// Whether the weak reference, which may be null, refers to `object`.
bool refers_to(PyObject* weak, PyObject* object);

}  // namespace headway::pytorch
