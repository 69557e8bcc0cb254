# SPDX-License-Identifier: MIT
"""A range around each op that the program calls, and around each autograd node that the op made.

Only with --pytorch=ops: PyTorch calls native/ops.cc for every op. A backward range has the sequence number of the op
that made its node, by which the analyzer finds the module. An optimizer step has one range: its many small ops are left
out, because a range costs more per op here than in PyTorch's own profiler.
"""
import importlib
import os
import threading

from headway_pytorch import core
from headway_pytorch.core import name, nvtx

_SKIPPED = ("backward", "size", "dim", "numel", "stride", "device", "data_ptr", "untyped_storage")
_SKIPPED_STARTS = ("__get__", "__set__", "__len__", "__hash__", "__repr__", "is_", "_is_", "requires_")
_SKIPPED_STARTS += ("_record_function", "record_function", "set_grad", "_set_grad")

_mode = None
_top = None  # function -> the mode that PyTorch calls now
_rests = None  # id of the thread on which an optimizer steps without the mode


def _name(function):
    """The handle of an op's name, asked once per function; 0: no range."""
    text = getattr(function, "__name__", "")
    worth = text and text not in _SKIPPED and not text.startswith(_SKIPPED_STARTS)
    return name(text.strip("_") or text) if worth else 0


@core.guarded("ops")
def _rest(optimizer, args, kwargs):
    """An optimizer steps: leaves the mode, so that its ops get no ranges. Not for a step with a closure, which runs passes of
    the model."""
    global _rests
    given = list(args) + list(kwargs.values())
    if _mode is not None and _top() is _mode and not any(callable(one) for one in given):
        _mode.__exit__(None, None, None)
        _rests = threading.get_ident()


@core.guarded("ops")
def _resume(optimizer, args, kwargs):
    global _rests
    if _rests == threading.get_ident() and _mode is not None:
        _rests = None
        _mode.__enter__()


def attach(torch):
    global _mode, _top
    kind = getattr(torch.overrides, "TorchFunctionMode", None)
    if kind is None:
        core.tell("pytorch.off.ops", "needs PyTorch 1.13 or later")
        return

    class HeadwayOps(kind):
        # Native, so that tracebacks of ops have no frame of ours.
        __torch_function__ = nvtx.TorchFunction()

    mode = HeadwayOps()
    nvtx.start_ops(mode, torch.Tensor, torch.is_grad_enabled, _name, name, core.failed("ops"))
    mode.__enter__()
    _mode = mode
    os.register_at_fork(after_in_child=detach)
    _top = getattr(torch.overrides, "_get_current_function_mode", None)
    hooks = importlib.import_module("torch.optim.optimizer")  # not an attribute in all versions
    if _top is not None and hasattr(hooks, "register_optimizer_step_post_hook"):
        hooks.register_optimizer_step_pre_hook(_rest)
        hooks.register_optimizer_step_post_hook(_resume)


def detach():
    """Ends the ranges of ops for ever: compilers trace through modes, and loader workers need no ranges of ops."""
    global _mode, _rests
    mode, _mode = _mode, None
    if mode is None:
        return
    _rests = None
    nvtx.stop_ops()
    import torch.overrides

    # Leaving would remove the top mode. If that is another one, ours stays and does nothing.
    top = getattr(torch.overrides, "_get_current_function_mode", lambda: None)()
    if top is mode:
        mode.__exit__(None, None, None)
