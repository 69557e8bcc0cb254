# SPDX-License-Identifier: MIT
"""Where one training step ends and the next begins, on each thread.

A step begins with the fetch of a batch and ends with the first fetch after an optimizer has stepped. What
a range was is said at its end: only one in which an optimizer stepped is a step. Without any fetch, steps
are from one optimizer step to the next, and what lies between model.eval() and model.train() is evaluation.
In a program that never made an optimizer, a step ends with its backward pass. A trainer with a loop of its
own (Keras) owns the thread meanwhile: it says itself what is a step, and nothing else is asked.
docs/design/0040-pytorch-hook.md has the cases.
"""
import atexit
import os
import sys
import threading
import weakref

from headway_pytorch import environments, faults, pausing, sampling
from headway_pytorch.core import EVALUATION, FORWARD, NO_PHASE, OTHER, PHASE, STEP, name, nvtx


class _Cycle:
    """The range that is open and may turn out to be a step."""

    def __init__(self, trains, by_update):
        self.trains = trains
        self.by_update = by_update  # ends with the next step of the anchor optimizer
        self.updates = 0
        self.anchor_updates = 0
        self.backwards = 0
        self.is_last = False  # no fetch will end it: the epoch's last batch, read ahead
        self.by_mode = False  # opened by model.eval(): what follows may still turn out to train
        self.evaluation = None  # a range that model.eval() opened inside
        self.source = None  # the iterator of the latest fetch, weakly
        self.calls = _calls()
        self.faults = faults.now()
        if trains:
            self.depth = nvtx.push(name("step"), STEP)
        else:
            self.depth = nvtx.push(name("evaluation batch"), PHASE, EVALUATION)
        if by_update:  # the gradient mode tells: an evaluation may lie in it
            nvtx.set_phase(NO_PHASE)
        else:
            nvtx.set_phase(FORWARD if trains else EVALUATION)

    def has_forward_only(self):
        return not self.updates and not self.backwards and _calls() > self.calls


class _Thread(threading.local):
    def __init__(self):
        self.cycle = None
        self.steps = 0
        self.optimizers = set()
        self.anchor = None  # the optimizer that was seen last for the first time
        self.fetches = 0
        self.source = None  # the iterator of the latest fetch, weakly
        self.reads_ahead = False  # the loop asks for a batch before it uses the one before
        self.between = None  # an evaluation that model.eval() opened after an epoch
        self.owners = 0  # trainers at work, one inside the other
        self.compiled_calls = 0  # of functions that neither update nor compute gradients


_thread = _Thread()


def _calls():
    """Of models, so far: modules of PyTorch, and functions that other frameworks compiled."""
    return nvtx.outermost_calls() + _thread.compiled_calls


_has_optimizer = False  # one was made, on whatever thread


def _pop_evaluation():
    environments.tell()
    nvtx.pop_as(PHASE, EVALUATION)


def _close():
    cycle, _thread.cycle = _thread.cycle, None
    if cycle is None:
        return
    _end_evaluation(cycle)
    nvtx.pop_to(cycle.depth + 1)
    if nvtx.open_ranges() > cycle.depth:
        if cycle.updates:
            nvtx.pop_as(STEP, NO_PHASE, _thread.steps)
        elif not cycle.trains or cycle.has_forward_only():
            _pop_evaluation()
        else:
            nvtx.pop_as(OTHER, NO_PHASE)
    if cycle.updates:
        faults.step_ended(cycle.faults)
        _thread.steps += 1
        pausing.step_begins(_thread.steps)
    nvtx.set_phase(NO_PHASE)


def _open(trains, by_update=False):
    _thread.cycle = _Cycle(trains, by_update)
    if not sampling.started and threading.current_thread() is threading.main_thread():
        sampling.start()


def fetch_begins(iterator, trains, is_last):
    """The thread asks `iterator` for a batch. `trains`: gradients are recorded. `is_last`: it is known
    that there is none left."""
    if _thread.owners:
        return
    _thread.fetches += 1
    _end_between()
    cycle = _thread.cycle
    goes_on = (
        cycle is not None
        and cycle.trains
        and trains
        and not cycle.updates
        and not cycle.by_update
        and not cycle.has_forward_only()
        and not is_last
    )
    if goes_on and not cycle.backwards and cycle.source is not None and cycle.source() is iterator:
        _thread.reads_ahead = True
    if not goes_on:
        _close()
        if is_last:
            return
        _open(trains)
    if _thread.source is None or _thread.source() is not iterator:
        _thread.source = weakref.ref(iterator, _source_gone(threading.get_ident()))
    _thread.cycle.source = _thread.source


def fetch_failed():
    """There was no batch: the end of the epoch, or an error."""
    if _thread.owners:
        return
    cycle = _thread.cycle
    if cycle is not None and not cycle.updates and not cycle.backwards:
        _close()
    if _thread.cycle is None and _thread.reads_ahead:  # the last batch is yet to be used
        _thread.reads_ahead = False
        _open(True)
        _thread.cycle.is_last = True


def _source_gone(thread):
    """The loop was left early: its iterator is gone."""

    def callback(reference):
        cycle = _thread.cycle
        if threading.get_ident() == thread and cycle is not None and cycle.source is reference:
            _close()

    return callback


def forward_begins(trains):
    """An outermost module is called for the first time: where there is no loader, a step begins."""
    if trains and _thread.cycle is None and not _thread.fetches and not _thread.owners and not _is_loader_worker():
        _open(True, by_update=True)


def first_call():
    """Of what another framework compiled, or of a gradient: the first step begins, unless a fetch began one. What lies before
    the first update may be anything."""
    if _thread.cycle is None and not _thread.fetches and not _thread.owners and not _thread.steps:
        _open(True, by_update=True)
        _thread.cycle.calls = sys.maxsize


def _is_loader_worker():
    """Modules that a worker calls are transforms of its samples."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


class _Evaluation:
    """What model.eval() opened inside a step, or after an epoch's last one."""

    def __init__(self):
        self.calls = nvtx.outermost_calls()
        self.depth = nvtx.push(name("evaluation"), PHASE, EVALUATION) + 1
        self.phase = nvtx.set_phase(EVALUATION)

    def end(self, trains_after_all):
        """An evaluation, or nothing: parts that stay frozen, say."""
        if nvtx.open_ranges() < self.depth:
            return
        nvtx.set_phase(self.phase)
        nvtx.pop_to(self.depth)
        if trains_after_all or nvtx.outermost_calls() == self.calls:
            nvtx.pop_as(OTHER, NO_PHASE)
        else:
            _pop_evaluation()


def _end_evaluation(cycle, trains_after_all=False):
    evaluation, cycle.evaluation = cycle.evaluation, None
    if evaluation is not None:
        evaluation.end(trains_after_all)


def _end_between(trains_after_all=False):
    evaluation, _thread.between = _thread.between, None
    if evaluation is not None:
        evaluation.end(trains_after_all)


def _evaluates_in_step(cycle, trains):
    """After an update the model is switched to evaluation: the step goes on until the next fetch."""
    if trains:
        _end_evaluation(cycle)
    elif cycle.updates and cycle.evaluation is None and nvtx.open_ranges() == cycle.depth + 1:
        cycle.evaluation = _Evaluation()


def mode_changed(trains, outermost):
    """model.eval() or model.train() was called on a module; `outermost`: one that the program calls itself."""
    cycle = _thread.cycle
    if _thread.owners or _is_loader_worker():
        return
    if _thread.fetches:
        if cycle is not None and cycle.trains:
            _evaluates_in_step(cycle, trains)
        elif trains:
            _end_between()
        elif cycle is None and outermost and _thread.steps and _thread.between is None:
            _thread.between = _Evaluation()
        return
    if not outermost:
        return
    if cycle is None:
        if trains and _has_optimizer:
            _open(True, by_update=True)
        return
    if cycle.updates or cycle.backwards:
        return
    if not trains and cycle.by_update and _thread.steps and nvtx.outermost_calls() == cycle.calls:
        _close()
        _open(False)
        _thread.cycle.by_mode = True
        nvtx.set_phase(NO_PHASE)  # the gradient mode tells
    elif trains and cycle.by_mode:
        _close()
        _open(True, by_update=True)


def _trains_after_all(cycle):
    """After model.eval() there was no evaluation: parts that stay frozen, say."""
    if cycle.by_mode:
        cycle.by_mode = False
        cycle.trains = cycle.by_update = True


def backward_begins():
    if _thread.owners:
        return
    _end_between(True)
    cycle = _thread.cycle
    if cycle is not None:
        _end_evaluation(cycle, True)
        _trains_after_all(cycle)
        cycle.backwards += 1


def backward_ended():
    """Without any optimizer the program updates its weights itself, after the pass."""
    if _has_optimizer or _thread.owners:
        return
    cycle = _thread.cycle
    if cycle is not None:
        cycle.updates += 1
        if cycle.by_update:
            _close()
    if _thread.cycle is None and not _thread.fetches:
        _open(True, by_update=True)


def optimizer_made():
    global _has_optimizer
    _has_optimizer = True


def has_optimizer():
    return _has_optimizer


def updated(optimizer):
    """An optimizer has stepped."""
    if _thread.owners:
        return
    key = id(optimizer)
    if key not in _thread.optimizers:
        _thread.optimizers.add(key)
        _thread.anchor = key
    cycle = _thread.cycle
    if cycle is None:
        if not _thread.fetches:
            _open(True, by_update=True)
        return
    _trains_after_all(cycle)
    cycle.updates += 1
    if key != _thread.anchor:
        return
    cycle.anchor_updates += 1
    if cycle.is_last:
        _close()
    elif cycle.by_update or cycle.anchor_updates > 1:
        _close()
        _open(True, by_update=True)


def forward_only():
    """A compiled function was called that does not train."""
    _thread.compiled_calls += 1


def owned():
    """A trainer with a loop of its own is at work (owners.py)."""
    return _thread.owners > 0


def _forget():
    """In a forked child: what is open belongs to the parent."""
    _thread.__init__()


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)
atexit.register(_end_between)
