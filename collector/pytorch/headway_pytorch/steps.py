# SPDX-License-Identifier: MIT
"""Where one training step ends and the next begins, on each thread (native/steps.cc).

A step begins with the fetch of a batch and ends with the first fetch after an optimizer has stepped. What
a range was is said at its end: only one in which an optimizer stepped is a step. Without any fetch, steps
are from one optimizer step to the next, and what lies between model.eval() and model.train() is evaluation.
In a program that never made an optimizer, a step ends with its backward pass. A trainer with a loop of its
own (Keras) owns the thread meanwhile: it says itself what is a step, and nothing else is asked.
docs/design/0040-pytorch-hook.md has the cases.
"""
import atexit
import sys
import threading

from headway_pytorch import environments, faults, pausing, sampling
from headway_pytorch.core import nvtx

# Of loops of the program's.
fetch_begins = nvtx.fetch_begins
fetch_failed = nvtx.fetch_failed
backward_begins = nvtx.backward_begins
backward_ended = nvtx.backward_ended
optimizer_made = nvtx.optimizer_made
has_optimizer = nvtx.has_optimizer
updated = nvtx.updated
first_call = nvtx.first_call
forward_only = nvtx.forward_only
owned = nvtx.owned  # by a trainer (owners.py)


def _begin_sampling():
    """Asked where a range begins, until it is True."""
    if threading.current_thread() is threading.main_thread():
        sampling.start()
    return sampling.started


def _is_loader_worker():
    """Modules that a worker calls are transforms of its samples."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def forward_begins(trains):
    """An outermost module is called for the first time: where there is no loader, a step begins."""
    if trains and not _is_loader_worker():
        nvtx.forward_begins()


def mode_changed(trains, outermost):
    """model.eval() or model.train() was called on a module; `outermost`: one that the program calls itself."""
    if not _is_loader_worker():
        nvtx.mode_changed(trains, outermost)


def start():
    """Before any of the others; once more is nothing new."""
    faults.start()
    nvtx.start_steps(environments.tell, _begin_sampling, pausing.step_begins)


start()
atexit.register(nvtx.end_steps)
