# SPDX-License-Identifier: MIT
"""A range around each op that the program calls, and around each autograd node that it made.

--pytorch=ops only: it runs Python for every op. A backward range has the sequence number of the op that
made its node, by which the analyzer finds the module.
"""
import itertools
import os

from headway_pytorch import core
from headway_pytorch.core import BACKWARD, NO_PHASE, OP, name, nvtx

_SKIPPED = ("backward", "size", "dim", "numel", "stride", "device", "data_ptr", "untyped_storage")
_SKIPPED_STARTS = ("__get__", "__set__", "__len__", "__hash__", "__repr__", "is_", "_is_", "requires_")
_SKIPPED_STARTS += ("_record_function", "record_function", "set_grad", "_set_grad")
_MOST_NODES = 16  # of one op; cross_entropy makes two

_mode = None
_names = {}  # function -> handle of its range's name; 0: not worth one
_numbers = itertools.count()
_failed = core.failed("ops")


def _name(function):
    text = getattr(function, "__name__", "")
    worth = text and text not in _SKIPPED and not text.startswith(_SKIPPED_STARTS)
    handle = _names[function] = name(text.strip("_") or text) if worth else 0
    return handle


def _hooks(node, number):
    """What the engine calls around the execution of a node."""
    handle = name(node.name())

    def before(*_):
        nvtx.push(handle, OP, BACKWARD, -1, -1, number)

    def after(*_):
        nvtx.pop()

    return before, after


def _inputs(args):
    for value in args:
        if isinstance(value, (tuple, list)):
            yield from value
        else:
            yield value


def _watch_nodes(out, args, number, tensor):
    """Hooks the nodes between the results of an op and its inputs."""
    for value in out if isinstance(out, (tuple, list)) else (out,):
        if isinstance(value, tensor) and value.grad_fn is not None:
            break
    else:
        return
    before_op = [each.grad_fn for each in _inputs(args) if isinstance(each, tensor)]
    waiting, seen = [value.grad_fn], []
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        # Gradients of leaves live as long as their parameter: what is hooked there stays.
        if any(node is each for each in itertools.chain(seen, before_op)) or hasattr(node, "variable"):
            continue
        seen.append(node)
        before, after = _hooks(node, number)
        if hasattr(node, "register_prehook"):
            node.register_prehook(before)
            node.register_hook(after)
            waiting.extend(each for each, _ in node.next_functions if each is not None)
        else:  # before PyTorch 2: the tensor's hook runs just before its node, inner nodes have none
            value.register_hook(before)
            node.register_hook(after)


def attach(torch):
    global _mode
    kind = getattr(torch.overrides, "TorchFunctionMode", None)
    if kind is None:
        core.tell("pytorch.off.ops", "needs PyTorch 1.13 or later")
        return
    tensor, is_grad_enabled = torch.Tensor, torch.is_grad_enabled

    class HeadwayOps(kind):
        on = True

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if not self.on:
                return func(*args, **kwargs)
            handle = _names.get(func)
            if handle is None:
                handle = _name(func)
            if not handle:
                return func(*args, **kwargs)
            number = next(_numbers)
            nvtx.push(handle, OP, NO_PHASE, -1, -1, number)
            try:
                out = func(*args, **kwargs)
            finally:
                nvtx.pop()
            if is_grad_enabled():
                try:
                    _watch_nodes(out, args, number, tensor)
                except Exception as error:
                    self.on = False
                    _failed(error)
            return out

    _mode = HeadwayOps()
    _mode.__enter__()
    os.register_at_fork(after_in_child=detach)


def detach():
    """No ops from here on: compilers trace through modes, and loader workers need none."""
    global _mode
    mode, _mode = _mode, None
    if mode is None:
        return
    mode.on = False
    import torch.overrides

    # Another mode on top would be taken instead of ours; then ours stays and does nothing.
    top = getattr(torch.overrides, "_get_current_function_mode", lambda: None)()
    if top is mode:
        mode.__exit__(None, None, None)
