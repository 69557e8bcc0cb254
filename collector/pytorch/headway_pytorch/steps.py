# SPDX-License-Identifier: MIT
"""Where one training step ends and the next begins, on each thread (native/steps.cc).

A step begins with the fetch of a batch and ends with the first fetch after an optimizer has stepped. What
a range was is said at its end: only one in which an optimizer stepped is a step. Without any fetch, steps
are from one optimizer step to the next, and what lies between model.eval() and model.train() is evaluation.
In a program that never made an optimizer, a step ends with its backward pass.
docs/design/0040-pytorch-hook.md has the cases.
"""
import atexit
import sys
import threading

from headway_pytorch import core, faults, pausing, sampling
from headway_pytorch.core import nvtx

_ENVIRONMENTS = ("gymnasium", "gym", "pettingzoo", "dm_env")


def _tell_environments():
    """Once. A program that has environments collects experience without gradients, too: no call tells it from an
    evaluation."""
    loaded = [library for library in _ENVIRONMENTS if library in sys.modules]
    if loaded:
        core.tell("environments", " ".join(loaded))


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
    nvtx.start_steps(_tell_environments, _begin_sampling, pausing.step_begins)


start()
atexit.register(nvtx.end_steps)
