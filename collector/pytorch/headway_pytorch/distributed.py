# SPDX-License-Identifier: MIT
"""Ranges around communication that the host itself does or waits for: gloo and MPI, on the CPU.

Communication on a GPU is recorded on the device. DistributedDataParallel communicates in C++, without calling Python.
It waits for its buckets at the end of the backward pass, in one of autograd's final callbacks. A callback of ours,
queued at the begin of the pass, runs before it and opens the range; the end of the pass closes the range.
"""
import sys
import threading

from headway_pytorch import core
from headway_pytorch.core import COMMUNICATION, PHASE, guarded, name, nvtx

_COLLECTIVES = (
    "all_reduce all_reduce_coalesced all_gather all_gather_coalesced all_gather_into_tensor all_gather_object"
    " all_to_all all_to_all_single barrier monitored_barrier broadcast broadcast_object_list _broadcast_coalesced"
    " gather gather_object reduce reduce_scatter reduce_scatter_tensor scatter scatter_object_list send recv"
    " send_object_list recv_object_list batch_isend_irecv"
).split()
_WAITED_FOR = "c10d::allreduce_ (waited for at the end of backward)"

_torch = None
_replaced = []  # (module, name, original function)
_on_host = False


def attach(torch):
    """Hooks only init_process_group, so that a program without a process group pays nothing."""
    global _torch
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available():
        return
    _torch = torch
    _wrap_all(dist, "init_process_group", None, _after_init)


def _owners(dist, attribute):
    """The modules in which programs find the function."""
    for module in (dist, sys.modules.get("torch.distributed.distributed_c10d")):
        if callable(getattr(module, attribute, None)):
            yield module


def _wrap_all(dist, attribute, before, after):
    for module in _owners(dist, attribute):
        original = getattr(module, attribute)
        if core.wrap(module, attribute, before, after, "distributed"):
            _replaced.append((module, attribute, original))


def detach():
    """Restores the original functions for ever: torch.compile recognises collectives by their identity."""
    for module, attribute, original in reversed(_replaced):
        setattr(module, attribute, original)
    del _replaced[:]
    nvtx.communicates(False, None, None)


def _after_init(token, error, result):
    global _on_host
    dist = _torch.distributed
    if error or _on_host or not dist.is_initialized() or dist.get_world_size() < 2:
        return
    core.tell("distributed", "backend=%s" % dist.get_backend())
    # The host sees only the launch of communication on a GPU.
    if dist.get_backend() not in ("gloo", "mpi") and _torch.cuda.is_available():
        return
    _on_host = True
    for attribute in _COLLECTIVES:
        text = name("c10d::" + attribute.lstrip("_"))
        _wrap_all(dist, attribute, _before_collective(text), nvtx.pop_to)
    parallel = sys.modules.get("torch.nn.parallel")
    replica = getattr(parallel, "DistributedDataParallel", None)
    if replica is not None:
        core.wrap(replica, "__init__", None, _after_replica, "distributed")


def _before_collective(text):
    def before(args, kwargs):
        return nvtx.push(text, PHASE, COMMUNICATION)

    return before


def _after_replica(token, error, result):
    if not error:
        nvtx.communicates(True, _backward_begins, _backward_ends)


# ---- the wait at the end of the backward pass


class _Waiting(threading.local):
    def __init__(self):
        self.armed = False


_waiting = _Waiting()


def _backward_begins(tensors):
    """Hooks the begin of a backward pass on `tensors`. -> the token for _backward_ends(), or None. Not called for a pass
    inside another."""
    if not isinstance(tensors, (list, tuple)):
        tensors = (tensors,)
    for tensor in tensors:
        node = getattr(tensor, "grad_fn", None)
        if node is not None:
            _waiting.armed = True
            # Before PyTorch 2 nodes have no pre-hooks; tensors always have hooks.
            return getattr(node, "register_prehook", tensor.register_hook)(_pass_begins)
    return None


def _backward_ends(handle):
    _waiting.armed = False
    handle.remove()


@guarded("distributed")
def _pass_begins(gradients):
    if _waiting.armed:  # else this is one of autograd's own threads
        _waiting.armed = False
        _torch.autograd.Variable._execution_engine.queue_callback(_gradients_done)


@guarded("distributed")
def _gradients_done():
    nvtx.push(name(_WAITED_FOR), PHASE, COMMUNICATION)
