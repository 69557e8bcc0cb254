# SPDX-License-Identifier: MIT
"""Ranges around the work of a DataLoader: the training thread's waits, and, in the process that makes them, batches
with their stages. Attached when torch.utils.data is imported."""
import os
import sys
import threading
import weakref

from headway_pytorch import core, decoders, stages
from headway_pytorch import steps as _  # noqa: F401  (must be started first)
from headway_pytorch.core import INPUT, PHASE, name, nvtx

_data = None
_loadings = weakref.WeakKeyDictionary()  # iterator -> Loading
_of_loader = weakref.WeakKeyDictionary()  # loader -> Loading of its newest iterator, which other iterators may wrap
_described = weakref.WeakSet()
_batch_is_described = False
_lock = threading.RLock()

# Numbers of batches are unique in a process. A loader whose length is not known, or whose workers are persistent,
# gets its own blocks of numbers: one for each pass over an iterable dataset, where workers count from 0 again.
_BLOCK = 1_000_000
_PASSES = stages.EPOCHS
_next_base = 0


def _make_loading(loader):
    """Makes the Loading that counts one pass over a loader (with persistent workers, several passes)."""
    global _next_base
    workers = loader.num_workers
    iterable = isinstance(loader.dataset, _data.IterableDataset)
    # A loader with its own __iter__ may take several passes from one iterator.
    own_passes = type(loader).__iter__ is not _data.DataLoader.__iter__
    length = None if iterable or own_passes else _length(loader)
    base = _next_base
    blocks = _PASSES if iterable and loader.persistent_workers else 1
    short = length is not None and not loader.persistent_workers
    _next_base = base + length if short else (base // _BLOCK + blocks) * _BLOCK
    prefetch = (getattr(loader, "prefetch_factor", None) or 2) * workers
    in_memory = not workers and stages.is_in_memory(loader.dataset)
    return nvtx.Loading(base, workers, prefetch, -1 if length is None else length, iterable, getattr(loader, "in_order", True), in_memory), base


def _length(loader):
    """The number of batches in a pass, or None: samplers and data sets need not know it (a data set's __len__ may call that of
    another one that has none)."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None


def _describe(loader):
    """Reports the loader's settings that decide its speed; the advice uses them."""
    if loader in _described:
        return
    _described.add(loader)
    number = len(_described)
    values = ["%s=%s" % (key, getattr(loader, key, None)) for key in ("num_workers", "batch_size")]
    for key in ("prefetch_factor", "persistent_workers", "pin_memory"):
        if getattr(loader, key, None):
            values.append("%s=%s" % (key, getattr(loader, key)))
    samples = None if isinstance(loader.dataset, _data.IterableDataset) else _length(loader.dataset)
    if samples is not None:
        values.append("samples=%d" % samples)
    if stages.is_in_memory(loader.dataset):
        values.append("in_memory=True")
    core.tell("DataLoader" if number == 1 else "DataLoader %d" % number, " ".join(values))


def _tensors_of(batch):
    """The tensors and arrays of a batch."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return [tensor for part in batch for tensor in _tensors_of(part)]
    return [batch] if hasattr(batch, "nbytes") else []


def _describe_batch(batch):
    """Reports once how many bytes and tensors a batch of the first loader has."""
    global _batch_is_described
    if not _batch_is_described:
        _batch_is_described = True
        tensors = _tensors_of(batch)
        core.tell("DataLoader.batch_bytes", sum(tensor.nbytes for tensor in tensors))
        core.tell("DataLoader.batch_tensors", len(tensors))


_PADDING_BATCHES = 16
_elements_seen = [0, 0, 0]  # batches, elements, elements that are not padding


def _count_padding(batch):
    """For the first batches: which share of them the attention mask leaves out. Costs one sum per batch, of a tensor in host
    memory."""
    if _elements_seen[0] >= _PADDING_BATCHES or not hasattr(batch, "get"):
        return
    mask = batch.get("attention_mask")
    if getattr(mask, "ndim", 0) != 2 or getattr(getattr(mask, "device", None), "type", "") != "cpu":
        return
    _elements_seen[0] += 1
    _elements_seen[1] += mask.numel()
    _elements_seen[2] += int((mask != 0).sum())
    if _elements_seen[0] == _PADDING_BATCHES and _elements_seen[1]:
        core.tell("padding", "%.4f" % (1 - _elements_seen[2] / _elements_seen[1]))


def _before_iter(args, kwargs):
    """A pass over the loader begins. With persistent workers there is an iterator already."""
    before = nvtx.push(name("DataLoader.__iter__"), PHASE, INPUT)
    return args[0], getattr(args[0], "_iterator", None), before


def _after_iter(token, error, iterator):
    loader, living, before = token
    nvtx.pop_to(before)
    if not error and living is not None and iterator is living and loader in _of_loader:
        _of_loader[loader].restart()


def _before_making(args, kwargs):
    """The iterator copies the loader's attributes, so they are replaced by our wrappers while it is made. Loaders with
    their own `__iter__` call this function, too."""
    loader = args[0]
    _describe(loader)
    loading, base = _make_loading(loader)
    plan = base, loader.num_workers
    _lock.acquire()
    saved = loader.collate_fn, loader.worker_init_fn
    try:
        loader.collate_fn = stages.CollateWrapper(saved[0])
        if loader.num_workers:
            loader.worker_init_fn = stages.WorkerInitWrapper(saved[1], plan)
        return loader, loading, saved, nvtx.push(name("DataLoader._get_iterator"), PHASE, INPUT)
    except BaseException:
        loader.collate_fn, loader.worker_init_fn = saved
        _lock.release()
        raise


def _after_making(token, error, iterator):
    loader, loading, saved, before = token
    try:
        loader.collate_fn, loader.worker_init_fn = saved
        nvtx.pop_to(before)
    finally:
        _lock.release()
    if error:
        return
    _loadings[iterator] = _of_loader[loader] = loading
    for owner in type(iterator).__mro__:
        if "__next__" in vars(owner):
            core.wrap(owner, "__next__", nvtx.around_next, None, "DataLoader.__next__")
            break


_next_names = core.Names("enumerate(DataLoader)#%s.__next__")  # the name that PyTorch's own profiler shows


def _look(batch):
    """Looks at a batch that the program gets. -> whether to show it more batches of this type."""
    _describe_batch(batch)
    _count_padding(batch)
    return hasattr(batch, "get") and _elements_seen[0] < _PADDING_BATCHES


def _new_lock():
    global _lock
    _lock = threading.RLock()


def attach(data):
    global _data
    _data = data
    os.register_at_fork(after_in_child=_new_lock)  # a worker is forked while the lock is held
    nvtx.start_loading(_loadings.get, _next_names, sys.modules["torch"].is_grad_enabled, _look)
    decoders.attach_imported()
    core.wrap(data.DataLoader, "__iter__", _before_iter, _after_iter, "DataLoader")
    core.wrap(data.DataLoader, "_get_iterator", _before_making, _after_making, "DataLoader")
