# SPDX-License-Identifier: MIT
"""Functions that a framework compiles from Python: tf.function, jax.jit.

Their Python code runs only while they are traced. An optimizer's update or a gradient that is called then is part of
each later call, so a function is known to train from its first call on. Only the outermost call counts: functions that
it calls are part of it.
"""
import os
import sys
import threading

from headway_pytorch import steps
from headway_pytorch.core import BACKWARD, FORWARD, PHASE, UPDATE, name, nvtx


class Traced:
    """The state of one compiled function."""

    __slots__ = ("handle", "updates", "gradients", "last", "seldom", "__weakref__")

    def __init__(self, label):
        self.handle = name(label)
        self.updates = False
        self.gradients = False
        self.last = None  # number of steps that had ended at its last call
        self.seldom = False  # there were steps before its last calls that did not call it

    def trains(self):
        return self.updates or self.gradients


class _Thread(threading.local):
    def __init__(self):
        self.call = None  # the Traced of the outermost compiled function that runs
        self.evaluates = False


_thread = _Thread()


def is_inside():
    return _thread.call is not None


def begins(traced):
    """A call begins. -> the token for ends(); None inside another call, and while a trainer owns the thread."""
    if _thread.call is not None or steps.owned():
        return None
    _thread.call = traced
    if traced.trains():
        _trains()
    else:
        _may_evaluate(traced)
    steps.first_call()
    if traced.gradients and not traced.updates:
        steps.backward_begins()
    return traced, nvtx.push(traced.handle, PHASE, FORWARD)


def _may_evaluate(traced):
    """A function that every step calls is part of the step (metrics, preparation). A function that does not train and that
    steps did not call is an evaluation. At its first call it is not known yet whether a function trains."""
    number = nvtx.steps_ended()
    last, traced.last = traced.last, number
    if last is None:
        traced.seldom = number > 0
        return
    if number != last:
        traced.seldom = number > last + 1
    if traced.seldom:
        _thread.evaluates = True
        nvtx.evaluation_begins()
    else:
        _trains()  # a step is prepared; if instead an evaluation goes on, the next call shows it


def _trains():
    if _thread.evaluates:
        _thread.evaluates = False
        nvtx.mode_changed(True, True)


def ends(token, error):
    traced, depth = token
    _thread.call = None
    nvtx.pop_to(depth)
    if error:
        return
    if traced.updates:
        steps.updated(traced)
    elif traced.gradients:
        _computed_gradients()
    else:
        steps.forward_only()


_expects_update = False


def _computed_gradients():
    """Ends a step without an optimizer. When optax is loaded, its first update may still come, so the first gradients do not
    end a step."""
    global _expects_update
    if not _expects_update and "optax" in sys.modules and not steps.has_optimizer():
        _expects_update = True
        return
    steps.backward_ended()


def traces(traced):
    """The function is traced for a later call, without being called. -> the token for done()."""
    before, _thread.call = _thread.call, traced if _thread.call is None else _thread.call
    return before


def done(before):
    _thread.call = before


def gradient_begins(label):
    """The program asks for gradients. Inside a compiled function this shows that the function computes gradients."""
    if _thread.call is not None:
        _thread.call.gradients = True
        return None
    if steps.owned():
        return None
    _trains()
    steps.first_call()
    steps.backward_begins()
    return nvtx.push(name(label), PHASE, BACKWARD)


def gradient_ends(token, error):
    if token is None:
        return
    nvtx.pop_to(token)
    if not error:
        _computed_gradients()


def update_begins(label):
    steps.optimizer_made()
    if _thread.call is not None:
        _thread.call.updates = True
        return None
    if steps.owned():
        return None
    return nvtx.push(name(label), PHASE, UPDATE)


def update_ends(token, error, optimizer):
    if token is None:
        return
    nvtx.pop_to(token)
    if not error:
        steps.updated(optimizer)


def _forget():
    """Resets the state in a forked child: the call goes on in the parent."""
    _thread.__init__()


os.register_at_fork(after_in_child=_forget)
