# SPDX-License-Identifier: MIT
"""A range around each op that the program calls, and around each autograd node that it made.

--pytorch=ops only: PyTorch calls us for every op (native/ops.cc). A backward range has the sequence number of the op
that made its node, by which the analyzer finds the module.
"""
import os

from headway_pytorch import core
from headway_pytorch.core import name, nvtx

_SKIPPED = ("backward", "size", "dim", "numel", "stride", "device", "data_ptr", "untyped_storage")
_SKIPPED_STARTS = ("__get__", "__set__", "__len__", "__hash__", "__repr__", "is_", "_is_", "requires_")
_SKIPPED_STARTS += ("_record_function", "record_function", "set_grad", "_set_grad")

_mode = None


def _name(function):
    """Asked once for each function; 0: not worth a range."""
    text = getattr(function, "__name__", "")
    worth = text and text not in _SKIPPED and not text.startswith(_SKIPPED_STARTS)
    return name(text.strip("_") or text) if worth else 0


def attach(torch):
    global _mode
    kind = getattr(torch.overrides, "TorchFunctionMode", None)
    if kind is None:
        core.tell("pytorch.off.ops", "needs PyTorch 1.13 or later")
        return

    class HeadwayOps(kind):
        # Native, so an op's traceback has no frame of ours.
        __torch_function__ = nvtx.TorchFunction()

    mode = HeadwayOps()
    nvtx.start_ops(mode, torch.Tensor, torch.is_grad_enabled, _name, name, core.failed("ops"))
    mode.__enter__()
    _mode = mode
    os.register_at_fork(after_in_child=detach)


def detach():
    """No ops from here on: compilers trace through modes, and loader workers need none."""
    global _mode
    mode, _mode = _mode, None
    if mode is None:
        return
    nvtx.stop_ops()
    import torch.overrides

    # Another mode on top would be taken instead of ours; then ours stays and does nothing.
    top = getattr(torch.overrides, "_get_current_function_mode", lambda: None)()
    if top is mode:
        mode.__exit__(None, None, None)
