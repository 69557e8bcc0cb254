# SPDX-License-Identifier: MIT
"""Functions that a framework compiles from Python: tf.function, jax.jit.

Python runs in them only while they are traced. What is called then, an optimizer's update or a gradient, is part of
each later call: so a function is known to train from its first call on. The outermost call counts: what it calls is
part of it.
"""
import os
import sys
import threading

from headway_pytorch import steps
from headway_pytorch.core import BACKWARD, FORWARD, PHASE, UPDATE, name, nvtx


class Traced:
    """What is known of one compiled function."""

    __slots__ = ("handle", "updates", "gradients", "last", "seldom", "__weakref__")

    def __init__(self, label):
        self.handle = name(label)
        self.updates = False
        self.gradients = False
        self.last = None  # how many steps had ended when it was called last
        self.seldom = False  # the steps before its last calls did without it

    def trains(self):
        return self.updates or self.gradients


class _Thread(threading.local):
    def __init__(self):
        self.call = None  # of the outermost compiled function that runs
        self.evaluates = False


_thread = _Thread()


def is_inside():
    return _thread.call is not None


def begins(traced):
    """The token for ends(), or None inside of another one, and where a trainer says what is going on."""
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
    """What each step calls is part of it: metrics, preparation. What steps did without, and does not train, evaluates. At
    its first call nobody knows yet whether it trains."""
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
        _trains()  # a step is prepared; if it is an evaluation that goes on, the next call says so


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
    """Where optax is loaded, its first update may be yet to come: the first gradients do not end a step."""
    global _expects_update
    if not _expects_update and "optax" in sys.modules and not steps.has_optimizer():
        _expects_update = True
        return
    steps.backward_ended()


def traces(traced):
    """It is traced and not called, for a call later. Gives back what done() takes."""
    before, _thread.call = _thread.call, traced if _thread.call is None else _thread.call
    return before


def done(before):
    _thread.call = before


def gradient_begins(label):
    """The program asks for gradients: inside a compiled function that says what it is."""
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
    """In a forked child: the call goes on in the parent."""
    _thread.__init__()


os.register_at_fork(after_in_child=_forget)
