# SPDX-License-Identifier: MIT
"""Ranges around work that belongs to no step: writing checkpoints and collecting garbage."""
import atexit
import gc
import os

from headway_pytorch import core
from headway_pytorch.core import OTHER, guarded, name, nvtx

_OLDEST = 2  # the generation that is recorded; the others are small and collected often
_bytes = 0  # size of the largest checkpoint so far
_collection = None  # number of ranges open before that of the collection


def attach(torch):
    watch_saver(torch, "save", "torch.save")
    watch_collector()


def watch_saver(owner, function, label):
    """Wraps a function whose second argument is the file that it writes."""
    core.wrap(owner, function, _before(label), _after_save, "save")


def watch_collector():
    if _collects in gc.callbacks:
        return
    gc.callbacks.append(_collects)
    atexit.register(_leave_collector)  # at exit modules are removed one by one
    os.register_at_fork(after_in_child=_leave_collector)  # loader workers need no such ranges


def attach_savers(part, module):
    """`part` has been imported as `module`."""
    functions = ("save", "async_save", "save_state_dict") if part.startswith("torch.") else ("save_file", "save_model")
    for function in functions:
        label = "torch.save" if part == "safetensors.torch" else "%s.%s" % (part, function)
        watch_saver(module, function, label)


# ---- checkpoints


def _file_in(kwargs):
    return next((kwargs[key] for key in ("f", "filename", "filepath", "file_prefix") if key in kwargs), None)


def _before(label):
    def before(args, kwargs):
        kwargs = kwargs or {}
        return nvtx.push(name(label), OTHER), args[1] if len(args) > 1 else _file_in(kwargs)

    return before


def _after_save(token, error, result):
    depth, file = token
    nvtx.pop_to(depth)
    if not error:
        _tell_bytes(file)


def _tell_bytes(file):
    """Reports the size of the largest checkpoint: programs write small files, too."""
    global _bytes
    if not isinstance(file, (str, os.PathLike)):
        return
    try:
        size = os.stat(file).st_size
    except OSError:  # the file is written later, or elsewhere
        return
    if size > _bytes:
        _bytes = size
        core.tell("checkpoint.bytes", size)


# ---- garbage


@guarded("collector")
def _collects(phase, info):
    global _collection
    if info.get("generation") != _OLDEST:
        return
    if phase == "start":
        _collection = nvtx.push(name("garbage collection"), OTHER)
    elif _collection is not None:
        nvtx.pop_to(_collection)
        _collection = None


def _leave_collector():
    if _collects in gc.callbacks:
        gc.callbacks.remove(_collects)
