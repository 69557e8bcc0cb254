# SPDX-License-Identifier: MIT
"""Where one training step ends and the next begins, on each thread (native/steps.cc).

A step begins with the fetch of a batch and ends with the first fetch after an optimizer has stepped. The
end of a range decides what it was: only a range in which an optimizer stepped is a step. Without any fetch,
a step lasts from one optimizer step to the next, and the time between model.eval() and model.train() is an
evaluation. In a program that never made an optimizer, a step ends with its backward pass. A trainer with its
own loop (Keras) owns the thread while it runs: it reports the steps itself, and no other hook does.
docs/design/0040-pytorch-hook.md has the cases.
"""
import atexit
import sys
import threading

from headway_pytorch import environments, faults, pausing, sampling
from headway_pytorch.core import nvtx

# For loops of the program itself.
fetch_begins = nvtx.fetch_begins
fetch_failed = nvtx.fetch_failed
backward_begins = nvtx.backward_begins
backward_ended = nvtx.backward_ended
optimizer_made = nvtx.optimizer_made
has_optimizer = nvtx.has_optimizer
updated = nvtx.updated
first_call = nvtx.first_call
forward_only = nvtx.forward_only
owned = nvtx.owned  # whether a trainer owns the thread (owners.py)


def _begin_sampling():
    """Starts sampling on the main thread. Called at the begin of each range until it returns True."""
    if threading.current_thread() is threading.main_thread():
        sampling.start()
    return sampling.started


def _is_loader_worker():
    """Whether this is a loader worker, where called modules are transforms of samples."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def forward_begins(trains):
    """An outermost module is called for the first time: where there is no loader, a step begins."""
    if trains and not _is_loader_worker():
        nvtx.forward_begins()


def mode_changed(trains, outermost):
    """model.eval() or model.train() was called on a module; `outermost`: the program calls it itself."""
    if not _is_loader_worker():
        nvtx.mode_changed(trains, outermost)


def start():
    """To be called before the other functions; a second call changes nothing."""
    faults.start()
    nvtx.start_steps(environments.tell, _begin_sampling, pausing.step_begins)


start()
atexit.register(nvtx.end_steps)
