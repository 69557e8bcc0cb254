# SPDX-License-Identifier: MIT
"""Custom loops of TensorFlow 2: fetches from tf.data, calls of tf.function, gradients, checkpoints.

Optimizers are Keras' (keras_hook.py). Python does not see the work inside a compiled function. So if an optimizer
updated while a function was traced, each call of the function is an update as a whole.
"""
import threading
import weakref

from headway_pytorch import core, pauses, steps, traced, waits
from headway_pytorch.core import guarded

_tf = None
_used = None
_functions = weakref.WeakKeyDictionary()  # tf.function -> Traced


def attach(tf):
    global _tf, _used
    _tf = tf
    _used = core.Used("tensorflow", tf.__version__)
    core.tell("python_hook", "on")
    for part in (_attach_data, _attach_functions, _attach_gradients, _attach_savers):
        guarded("tensorflow " + part.__name__[len("_attach_") :])(part)()
    guarded("pauses")(pauses.watch_collector)()


def _wrap(owner, attribute, before, after, hook):
    """Wraps a function and marks the wrapper, so that AutoGraph does not convert it: it does not convert the function."""
    if core.wrap(owner, attribute, before, after, hook):
        getattr(owner, attribute).autograph_info__ = {}


# ---- tf.data


class _Depth(threading.local):
    def __init__(self):
        self.fetches = 0  # depth of nested fetches: an iterator may call another


_depth = _Depth()


def _before_next(args, kwargs):
    _depth.fetches += 1
    if _depth.fetches > 1 or not _tf.executing_eagerly():
        return None
    _used.tell()
    steps.fetch_begins(args[0], True, False)
    return waits.begin("IteratorGetNext")


def _after_next(token, error, result):
    _depth.fetches -= 1
    if token is None:
        return
    waits.end(token)
    if error:
        steps.fetch_failed()


def _after_iter(token, error, iterator):
    """Hooks the class of the iterators that Python reads, which is known when there is an iterator."""
    if error:
        return
    for owner in type(iterator).__mro__:
        if "__next__" in vars(owner):
            _wrap(owner, "__next__", _before_next, _after_next, "tf.data")
            break


def _attach_data():
    _wrap(_tf.data.Dataset, "__iter__", None, _after_iter, "tf.data")


# ---- tf.function


def _traced(function):
    found = _functions.get(function)
    if found is None:
        label = getattr(function, "__name__", None) or "function"
        found = _functions[function] = traced.Traced("tf.function: %s" % label)
    return found


def _before_call(args, kwargs):
    if _used.what is not None:
        _used.tell()
    if steps.owned() or not _tf.executing_eagerly():  # the call is part of a trainer's step or of another function
        return None
    return traced.begins(_traced(args[0]))


def _after_call(token, error, result):
    if token is not None:
        traced.ends(token, error)


def _attach_functions():
    """tf.function has no public class; the object that it returns has one."""
    _wrap(type(_tf.function(_nothing)), "__call__", _before_call, _after_call, "tf.function")


def _nothing():
    return None


# ---- gradients of a tape


def _before_gradient(args, kwargs):
    _used.tell()
    return traced.gradient_begins("tf.GradientTape.gradient")


def _attach_gradients():
    _wrap(_tf.GradientTape, "gradient", _before_gradient, _after_gradient, "tape")


def _after_gradient(token, error, result):
    traced.gradient_ends(token, error)


def _attach_savers():
    pauses.watch_saver(_tf.train.Checkpoint, "save", "tf.train.Checkpoint.save")
    pauses.watch_saver(_tf.train.Checkpoint, "write", "tf.train.Checkpoint.write")
    pauses.watch_saver(_tf.train.CheckpointManager, "save", "tf.train.CheckpointManager.save")
