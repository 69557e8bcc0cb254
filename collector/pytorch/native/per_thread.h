// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

#include <cstdint>
#include <vector>

namespace headway::pytorch {

/// What the hooks know of the calling thread; objects in it are owned. Python frees it with the thread.

/// A range that model.eval() opened inside a step, or after an epoch's last one.
struct Evaluation {
  bool is_open = false;
  std::int32_t depth = 0;   ///< ranges open with its own
  std::uint32_t phase = 0;  ///< of module calls before
  std::int64_t calls = 0;   ///< outermost calls of modules before
};

/// The range that is open and may turn out to be a step.
struct Cycle {
  bool is_open = false;
  bool trains = false;
  bool by_update = false;  ///< ends with the next step of the anchor optimizer
  bool is_last = false;    ///< no fetch will end it: the epoch's last batch, read ahead
  bool by_mode = false;    ///< opened by model.eval(): what follows may still turn out to train
  std::int32_t depth = 0;  ///< ranges open before its own
  std::int64_t updates = 0;
  std::int64_t anchor_updates = 0;
  std::int64_t backwards = 0;
  std::int64_t calls = 0;      ///< outermost calls of modules before
  std::int64_t faults = 0;     ///< of pages, before
  PyObject* source = nullptr;  ///< the iterator of the latest fetch, weakly
  Evaluation evaluation;
};

struct Steps {
  Cycle cycle;
  std::int64_t steps = 0;
  std::int64_t fetches = 0;
  std::int64_t compiled_calls = 0;  ///< of functions that neither update nor compute gradients
  int owners = 0;               ///< trainers with a loop of their own at work, one inside the other
  bool reads_ahead = false;     ///< the loop asks for a batch before it uses the one before
  PyObject* source = nullptr;   ///< the iterator of the latest fetch, weakly
  PyObject* loading = nullptr;  ///< what is known of that one's loader
  Evaluation between;
  std::vector<PyObject*> optimizers;  ///< those seen so far: only compared, not owned
  PyObject* anchor = nullptr;         ///< the one that was seen last for the first time; the same
};

/// The batch that the thread makes.
struct Making {
  bool is_active = false;    ///< the thread makes batches at all
  bool has_batch = false;    ///< one is being made
  bool has_partial = false;  ///< there is a batch whose samples ended with the dataset: `partial`
  bool is_reading = false;
  bool is_decoding = false;
  bool in_memory = false;  ///< samples are tensors already: nothing is read or decoded
  std::int32_t depth = 0;
  std::int64_t level = 0;    ///< calls of the dataset inside calls of the dataset
  std::int64_t samples = 0;  ///< of an iterable dataset, in this batch
  std::int64_t batch = 0;
  std::int64_t partial = 0;
  std::int64_t wall_ns = 0;     ///< where the stage began, by the clock and
  std::int64_t ran_ns = 0;      ///< by that of the thread
  std::int64_t delayed_ns = 0;  ///< the thread waited for a processor so far, when last looked
  int delays = -2;              ///< the file that tells it; -2: not opened yet, -1: there is none
  bool draws_are_known = false;
  bool draws_began = false;
  PyObject* draws = nullptr;  ///< of Python: whether samples draw random numbers
};

/// An optimizer at work.
struct OpenStep {
  PyObject* optimizer = nullptr;  ///< only compared
  std::int32_t before = 0;        ///< ranges open before its own
  PyObject* closure = nullptr;    ///< what Python keeps of a step with a closure
};

struct PerThread {
  Steps steps;
  Making making;
  std::vector<OpenStep> open_steps;
  int passes = 0;  ///< backward() inside backward(): a checkpoint computes anew
};

/// That of the calling thread; anew in a forked child. Null with a Python error set. With Python's lock held.
PerThread* per_thread();
/// Drops the batch that is made and what else is known of making them.
void forget_making(Making& making);
bool add_per_thread_type();

/// For objects that may be null: the one takes a reference of `value`, the other is given back.
void keep(PyObject*& slot, PyObject* value);
/// A hook of ours has raised: hands the error to `failed`, if that is a callable, and clears it. False when the error is
/// the program's (Ctrl-C in the middle): then it stays set.
bool swallow(PyObject* failed);
/// Whether the weak reference, which may be null, is to `object`.
bool refers_to(PyObject* weak, PyObject* object);

}  // namespace headway::pytorch
