// SPDX-License-Identifier: MIT
#pragma once

#include "collector/pytorch/native/python.h"

namespace headway::pytorch {

/// Samples where the main thread is while no range of ours says what it does. A sample is a mark whose
/// name is the Python stack, "step (cartpole.py:71);main (dqn.py:180)", innermost frame first.
///
/// A native thread requests a sample every 1 ms for 100 samples, every 4 ms until 1,000, then every 20 ms. The main
/// thread takes it between two of its bytecode instructions. No thread waits for Python's lock, and no code of ours
/// runs in the program's frames. The request is Py_AddPendingCall(). Python 3.9 to 3.12 runs such a call only when
/// its lock has changed hands, after a wait or an op of PyTorch; there a main thread that computes also gets a
/// signal, SIGURG, which does nothing where it has no handler.

/// Starts sampling the main thread, which must call it. `prefixes`: folders that are removed from file
/// names, longest first, each with its final slash; `signals`: answer_signal() is Python's handler of
/// SIGURG; `failed(error)` is called once if sampling has to stop. A second call does nothing. False
/// with a Python error set.
bool start_sampler(PyObject* prefixes, bool signals, PyObject* failed);
/// To be called on the main thread by the signal handler. False with an error of the program set.
bool answer_signal();
/// To be called at exit, before the interpreter is finalized.
void stop_sampler();
/// To be called in a forked child, which does not have the sampling thread.
void sampler_forked();

}  // namespace headway::pytorch
