# SPDX-License-Identifier: MIT
"""The binding to NVTX, the names and numbers of Headway's conventions, and functions that install hooks."""
import functools
import os

import _headway_nvtx as nvtx

# RangeKind and Phase of docs/reference/nvtx-conventions.md.
OTHER, STEP, PHASE, OP, INPUT_WAIT, BATCH, READ, DECODE, AUGMENT, COLLATE = range(10)
NO_PHASE, INPUT, FORWARD, BACKWARD, UPDATE, COMMUNICATION, EVALUATION = range(7)

_handles = {}
_told = set()
_started = False


def start():
    """True when a tool listens; otherwise no hook is installed."""
    global _started
    if not _started and nvtx.start():
        _started = True
        os.register_at_fork(after_in_child=nvtx.forked)
    return _started


def wants_ops():
    return os.environ.get("HEADWAY_PYTORCH") == "ops"


def name(text):
    """The NVTX handle of `text`, as a number."""
    handle = _handles.get(text)
    if handle is None:
        handle = _handles[text] = nvtx.intern(text)
    return handle


class Names(dict):
    """The handles of names that contain the name of a class: {class: number}."""

    def __init__(self, pattern):
        super().__init__()
        self.pattern = pattern

    def __missing__(self, kind):
        handle = self[kind] = name(self.pattern % kind.__name__)
        return handle


def tell(setting, value):
    """Puts a setting of the run into the trace."""
    nvtx.setting(str(setting), str(value))


class Used:
    """Reports a framework's version when the program first uses it: libraries import several frameworks."""

    def __init__(self, setting, value):
        self.what = setting, value

    def tell(self):
        if self.what is not None:
            what, self.what = self.what, None
            tell(*what)


def failed(hook):
    """The callback for a hook that raised and is switched off; it reports that once in the trace."""

    def report(error):
        if hook not in _told:
            _told.add(hook)
            tell("pytorch.off." + hook, "%s: %s" % (type(error).__name__, error))

    return report


def _look_like(wrapper, fn):
    """Gives the wrapper the function's code object: torch.profiler(with_stack=True) recognises module calls by that of
    torch.nn.Module.__call__."""
    functools.update_wrapper(wrapper, fn)
    if hasattr(fn, "__code__"):
        wrapper.__code__ = fn.__code__


class Wrapper(nvtx.Call):
    """Calls `fn` transparently: first `before(args, kwargs)` -> token, then `fn`, then `after(token, error, result)`. Or
    `before` is a native hook that does both, nvtx.around_..."""

    def __init__(self, fn, before, after, hook):
        super().__init__(fn, before, after, failed(hook))
        _look_like(self, fn)

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)


class ModuleWrapper(nvtx.ModuleCall):
    """Replaces a class's __call__: a range around each call of a module."""

    def __init__(self, fn, names, resolve, grad_enabled):
        super().__init__(fn, names, resolve, grad_enabled, failed("modules"))
        _look_like(self, fn)

    def __new__(cls, *args):
        return super().__new__(cls)


def wrap(owner, attribute, before, after, hook):
    """Wraps a function of a class or module. False when there is no such function, or it is wrapped already."""
    fn = getattr(owner, attribute, None)
    if fn is None or isinstance(fn, nvtx.Call):
        return False
    setattr(owner, attribute, Wrapper(fn, before, after, hook))
    return True


def guarded(hook):
    """Decorator for functions that PyTorch calls directly: an exception never leaves them."""

    def decorate(fn):
        report = failed(hook)

        @functools.wraps(fn)
        def inner(*args):
            try:
                return fn(*args)
            except Exception as error:
                report(error)
                return None

        return inner

    return decorate
