# SPDX-License-Identifier: MIT
"""Steps of Keras 3, with any backend: fit(), evaluate() and predict() own the thread while they run, and the public
CallbackList says where batches begin and end. In a custom loop the optimizer and the backend's hooks find the steps.
"""
import sys
import threading

from headway_pytorch import compiled_waits, core, owners, pauses, steps, traced, waits
from headway_pytorch.core import EVALUATION, FORWARD, PHASE, guarded, name, nvtx

_keras = None
_used = None
_plain_apply = None


def attach(keras):
    global _keras, _used
    _keras = keras
    _used = core.Used("keras", "%s backend=%s" % (keras.__version__, keras.config.backend()))
    core.tell("python_hook", "on")
    for part in (_attach_trainer, _attach_callbacks, _attach_optimizers, _attach_input, _attach_savers):
        guarded("keras " + part.__name__[len("_attach_") :])(part)()
    guarded("pauses")(pauses.watch_collector)()


# ---- fit(), evaluate(), predict()


class _Fit(threading.local):
    """State of fit() on this thread."""

    def __init__(self):
        self.calls = None  # Calls of a compiled function that fetches its own batches
        self.first = True
        self.several = False  # whether one call runs several steps


_fit = _Fit()


def _before_loop(args, kwargs):
    _used.tell()
    return owners.own(), nvtx.open_ranges()


def _after_loop(token, error, result):
    """Closes the ranges that callbacks left open: the loop is over, or raised an exception."""
    owner, depth = token
    owners.closes(False)
    nvtx.pop_to(depth)
    owners.disown(owner)


def _before_fit(args, kwargs):
    _describe(args[0])
    _fit.calls = None
    _fit.first = True
    return _before_loop(args, kwargs)


@guarded("keras settings")
def _describe(model):
    """Reports the settings of fit(). When one call runs several steps, a step of the report is that many steps."""
    several = getattr(model, "steps_per_execution", None) or 1
    _fit.several = several != 1
    if several != 1:
        core.tell("keras.steps_per_execution", several)
    optimizer = getattr(model, "optimizer", None)
    eager = getattr(model, "run_eagerly", False)
    compiled = "eager" if eager else "jit_compile=%s" % getattr(model, "jit_compile", None)
    core.tell("keras.fit", "optimizer=%s %s" % (type(optimizer).__name__, compiled))


def _before_train_on_batch(args, kwargs):
    if not steps.owned():
        steps.forward_begins(True)  # for the first call of a loop without tf.data, and the first after an evaluation
    return owners.own(False), nvtx.push(name("keras.Model.train_on_batch"), PHASE, FORWARD), args[0]


def _after_train_on_batch(token, error, result):
    owner, depth, model = token
    nvtx.pop_to(depth)
    owners.lend_back(owner)
    if not error:
        steps.optimizer_made()
        steps.updated(model)


def _attach_trainer():
    model = _keras.Model
    core.wrap(model, "fit", _before_fit, _after_loop, "keras fit")
    core.wrap(model, "evaluate", _before_loop, _after_loop, "keras evaluate")
    core.wrap(model, "predict", _before_loop, _after_loop, "keras predict")
    core.wrap(model, "train_on_batch", _before_train_on_batch, _after_train_on_batch, "keras train_on_batch")


# ---- where batches begin and end


def _opens(trains):
    def after(token, error, result):
        if steps.owned() and not error:
            owners.opens(trains)

    return after


def _batch_begins(label, phase):
    """Called after the program's callbacks: the step itself follows."""

    def after(token, error, result):
        if steps.owned() and not error:
            nvtx.push(name(label), PHASE, phase)
            if phase == FORWARD and _fit.calls is not None:
                _fit.calls.begins()

    return after


def _before_batch_end(args, kwargs):
    owners.works_no_longer()


def _batch_ends(trains):
    def after(token, error, result):
        if steps.owned() and not error:
            if trains and _fit.calls is not None:
                _fit.calls.ends()
            owners.closes(True)
            owners.opens(trains)

    return after


def _closes(args, kwargs):
    """Discards the range that was opened after the last batch: no batch followed."""
    if steps.owned():
        if _fit.calls is not None:
            _fit.calls.tell()
            _fit.calls = None
        owners.closes(False)


def _attach_callbacks():
    callbacks = _keras.callbacks.CallbackList

    def wrap(method, before, after):
        core.wrap(callbacks, method, before, after, "keras callbacks")

    wrap("on_epoch_begin", None, _opens(True))
    wrap("on_epoch_end", _closes, None)
    wrap("on_train_batch_begin", None, _batch_begins("keras.Model.train_step", FORWARD))
    wrap("on_train_batch_end", _before_batch_end, _batch_ends(True))
    for kind, label in (("test", "keras.Model.test_step"), ("predict", "keras.Model.predict_step")):
        wrap("on_%s_begin" % kind, _closes, _opens(False))
        wrap("on_%s_end" % kind, _closes, None)
        wrap("on_%s_batch_begin" % kind, None, _batch_begins(label, EVALUATION))
        wrap("on_%s_batch_end" % kind, _before_batch_end, _batch_ends(False))


# ---- optimizers of custom loops


def _before_apply(args, kwargs):
    return traced.update_begins("keras.Optimizer.apply: %s" % type(args[0]).__name__), args[0]


def _after_apply(token, error, result):
    traced.update_ends(token[0], error, token[1])


def _attach_optimizers():
    global _plain_apply
    optimizer = _keras.optimizers.Optimizer
    _plain_apply = optimizer.apply
    core.wrap(optimizer, "apply", _before_apply, _after_apply, "keras optimizer")
    core.wrap(optimizer, "__init__", None, _after_optimizer, "keras optimizer")


def _after_optimizer(token, error, result):
    _used.tell()
    steps.optimizer_made()


def detach():
    """Restores the optimizer's method: torch.compile traces through it and would stop at our wrapper."""
    if _plain_apply is not None and isinstance(_keras.optimizers.Optimizer.apply, nvtx.Call):
        _keras.optimizers.Optimizer.apply = _plain_apply


# ---- input that Python fetches


class _Fetches:
    """Replaces the iterator of a Keras adapter, which only Keras' own loop sees."""

    def __init__(self, iterator):
        self.next = core.Wrapper(iterator.__next__, _before_next, _after_next, "keras input")

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()


def _before_next(args, kwargs):
    return waits.begin("keras.data_adapter.__next__")


def _after_next(token, error, result):
    waits.end(token)


def _after_get_iterator(token, error, iterator):
    """Wraps generators only: data sets of TensorFlow and loaders of PyTorch have hooks of their own."""
    if error or type(iterator).__name__ != "generator":
        return None
    return _Fetches(iterator)


def _after_yield(token, error, result):
    """A step is about to begin; its compiled function fetches from the iterator in `result`."""
    if error:
        return
    iterator = result[2]
    if _fit.calls is not None and _fit.calls.iterator is iterator:
        return
    _fit.calls = None
    if isinstance(iterator, sys.modules["tensorflow"].data.Iterator) and not _fit.several:
        _fit.calls = compiled_waits.Calls(iterator, _fit.first)
        _fit.first = False


def _attach_input():
    """Hooks private classes of Keras, because nothing public separates the fetch from the step: with JAX, Keras' loop reads
    a generator; with TensorFlow, the compiled function gets the iterator."""
    module = sys.modules.get("keras.src.trainers.epoch_iterator")
    if module is None or _keras.config.backend() == "torch":
        return
    waiting = [module.EpochIterator]
    while waiting:
        owner = waiting.pop()
        waiting += owner.__subclasses__()
        if _keras.config.backend() == "tensorflow" and "__next__" in vars(owner):
            core.wrap(owner, "__next__", None, _after_yield, "keras input")
        elif "_get_iterator" in vars(owner):
            core.wrap(owner, "_get_iterator", None, _after_get_iterator, "keras input")


def _attach_savers():
    for method in ("save", "save_weights"):
        pauses.watch_saver(_keras.Model, method, "keras.Model.%s" % method)
