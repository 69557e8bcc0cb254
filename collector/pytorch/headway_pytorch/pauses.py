# SPDX-License-Identifier: MIT
"""Ranges around what belongs to no step: files that are written, garbage that is collected."""
import atexit
import gc
import os

from headway_pytorch import core
from headway_pytorch.core import OTHER, guarded, name, nvtx

_OLDEST = 2  # generation: the others are small, and collected often
_bytes = 0  # of the largest checkpoint so far
_collection = None  # how deep the range is


def attach(torch):
    watch_saver(torch, "save", "torch.save")
    watch_collector()


def watch_saver(owner, function, label):
    """A function whose second argument is the file that it writes."""
    core.wrap(owner, function, _before(label), _after_save, "save")


def watch_collector():
    if _collects in gc.callbacks:
        return
    gc.callbacks.append(_collects)
    atexit.register(_leave_collector)  # modules go one by one then
    os.register_at_fork(after_in_child=_leave_collector)  # workers make batches


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
    """Of the largest one: programs write small files, too."""
    global _bytes
    if not isinstance(file, (str, os.PathLike)):
        return
    try:
        size = os.stat(file).st_size
    except OSError:  # it is written later, or elsewhere
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
