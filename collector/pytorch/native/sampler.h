// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Says now and then where the main thread is while no range of ours tells what it does: a mark whose
/// name is its Python stack, "step (cartpole.py:71);main (dqn.py:180)", innermost frame first.
///
/// A native thread only asks, every 1 ms for 100 samples, every 4 ms until 1,000, then every 20 ms; the main thread
/// answers between two of its instructions. Nobody waits for Python's lock, and no code of ours runs in
/// the program's frames. The interpreter is asked by Py_AddPendingCall(). In Python 3.9 to 3.12 it then
/// answers only once its lock has changed hands, after a wait or an op of PyTorch; there a thread that
/// computes is sent a signal, SIGURG, which does nothing where nobody handles it.

/// For the main thread, which calls it. `prefixes`: folders that are left out of file names, longest
/// first, each with its final slash; `signals`: answer_signal() is Python's handler of SIGURG;
/// `failed(error)` is told once if sampling has to stop. Once more is nothing. False with a Python
/// error set.
bool start_sampler(PyObject* prefixes, bool signals, PyObject* failed);
/// On the main thread: False with an error of the program set.
bool answer_signal();
/// At exit, before the interpreter is taken apart.
void stop_sampler();
/// In a forked child, where the asking thread is not.
void sampler_forked();

}  // namespace headway::pytorch
