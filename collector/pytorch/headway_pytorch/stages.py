# SPDX-License-Identifier: MIT
"""How a batch is made: samples, then collate; in a worker process, or on the thread that waits.

The objects here travel to workers, also by pickle, so this module imports nothing of PyTorch at its top.
"""
import os
import threading
import time

from headway_pytorch import core
from headway_pytorch.core import BATCH, COLLATE, DECODE, INPUT, READ, Wrapper, name, nvtx
from headway_pytorch.draws import Draws

_TICKS_NS = 10_000_000
_EPOCHS = 1_000_000  # numbers of one pass over an iterable dataset with persistent workers


def number(base, epoch, workers, worker, made):
    """Batches are dealt to workers in turn."""
    return base + epoch * _EPOCHS + worker + made * workers


class _Delays:
    """How long the thread waited for a processor so far, in nanoseconds."""

    def __init__(self):
        try:
            self.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.file = -1

    def now_ns(self):
        if self.file >= 0:
            try:
                return int(os.pread(self.file, 64, 0).split()[1])
            except (OSError, ValueError, IndexError):
                self.file = -1
        return 0


class _Making(threading.local):
    """The batch that this thread makes."""

    def __init__(self):
        self.active = False  # this thread makes batches at all
        self.samples = 0  # of an iterable dataset, in this batch
        self.partial = None  # the batch whose samples ended with the dataset
        self.batch = None  # none is being made
        self.depth = 0
        self.level = 0  # calls of the dataset inside calls of the dataset
        self.reading = False
        self.decoding = False
        self.in_memory = False  # samples are tensors already: nothing is read or decoded
        self.delays = None
        self.delayed = 0  # of delays, when it was read last
        self.draws = Draws()

    def begin(self, batch, alone=True):
        """`alone`: nothing but samples is made; a sampler draws where its first batch begins."""
        self.batch = batch
        self.depth = nvtx.push(name("batch"), BATCH, INPUT, batch)
        nvtx.push(name("samples"), DECODE, INPUT, batch)
        self.reading = True
        self.decoding = False
        if self.delays is None:
            self.delays = _Delays()
        if not self.in_memory:
            if alone:
                self.draws.begin()
            self.delayed = self.delays.now_ns()
            self.begin_stage()

    def begin_stage(self):
        self.wall = time.monotonic_ns()
        self.ran = time.thread_time_ns()  # the figure in the file of delays lags by up to a tick

    def end_stage(self, kind):
        """What it was is known now: a thread that neither ran nor waited for a processor, mostly, was reading. Samples may
        be short; what is known to be computing must have waited longer than a tick."""
        wall, ran = self.wall, self.ran
        self.begin_stage()
        took = self.wall - wall
        busy = self.ran - ran
        if kind == DECODE or took - busy > _TICKS_NS:
            delayed, self.delayed = self.delayed, self.delays.now_ns()
            busy += self.delayed - delayed
        waited = took > 2 * busy and (kind == DECODE or took - busy > _TICKS_NS)
        nvtx.pop_as(READ if waited else kind, INPUT, -1, self.batch)

    def end_samples(self):
        self.reading = False
        if self.in_memory:
            nvtx.pop_as(COLLATE, INPUT, -1, self.batch)
            self.begin_stage()
        else:
            self.end_stage(DECODE)
        self.draws.end()

    def end_collate(self):
        if nvtx.open_ranges() >= self.depth + 2:
            nvtx.pop_to(self.depth + 2)
            self.end_stage(COLLATE)

    def end(self):
        if self.batch is not None:
            if self.reading:
                nvtx.pop_to(self.depth + 2)
                self.end_samples()
            nvtx.pop_to(self.depth)
        self.batch = None
        self.level = 0
        self.samples = 0


_making = _Making()


class _Worker:
    """This process, when it is a worker of a loader."""

    def __init__(self, base, workers, worker):
        self.base = base
        self.workers = workers
        self.worker = worker
        self.epoch = -1
        self.made = 0

    def next_batch(self):
        self.made += 1
        epoch = max(self.epoch, 0)
        return number(self.base, epoch, self.workers, self.worker, self.made - 1)


_worker = None


def is_in_memory(dataset):
    """Samples of the dataset are made already, as far as PyTorch's own types tell."""
    import torch.utils.data as data

    while isinstance(dataset, data.Subset):
        dataset = dataset.dataset
    if isinstance(dataset, data.ConcatDataset):
        return all(is_in_memory(part) for part in dataset.datasets)
    return type(dataset) in (data.TensorDataset, list, tuple)


def begin_here(batch, in_memory, alone):
    """The thread that waits makes the batch itself."""
    _making.active = True
    _making.in_memory = in_memory
    _making.begin(batch, alone)


def end_here():
    if _making.active and _worker is None:
        _making.end()
        _making.active = False


def begin_decoding():
    """A range inside the samples of a batch, or None elsewhere and inside of such a one."""
    if not _making.reading or _making.decoding:
        return None
    _making.decoding = True
    return nvtx.push(name("decode"), DECODE, INPUT, _making.batch)


def end_decoding(before):
    if before is not None:
        _making.decoding = False
        nvtx.pop_to(before)


# ---- collate


def _before_collate(args, kwargs):
    if not _making.active:
        return None
    if _making.batch is None and _worker is not None:  # no samples were seen, or there are no more
        batch, _making.partial = _making.partial, None
        _making.begin(_worker.next_batch() if batch is None else batch)
    if _making.reading:
        nvtx.pop_to(_making.depth + 2)
        _making.end_samples()
    nvtx.push(name("collate"), COLLATE, INPUT, -1 if _making.batch is None else _making.batch)
    return None


def _after_collate(token, error, result):
    if not _making.active:
        return
    if _making.batch is not None:
        _making.end_collate()
    if _worker is not None:
        _making.end()


class CollateWrapper(Wrapper):
    def __init__(self, fn):
        super().__init__(fn, _before_collate, _after_collate, "collate")
        self.fn = fn

    def __reduce__(self):
        return CollateWrapper, (self.fn,)


# ---- workers


def _no_init(worker_id):
    return None


class WorkerInitWrapper(Wrapper):
    """The worker_init_fn of the program, or none, and ours before it."""

    def __init__(self, fn, plan):
        super().__init__(fn or _no_init, self.begin, None, "worker")
        self.fn = fn
        self.plan = plan

    def __reduce__(self):
        return WorkerInitWrapper, (self.fn, self.plan)

    def begin(self, args, kwargs):
        global _worker
        if not core.start():
            return
        import torch.utils.data

        base, workers = self.plan
        _worker = _Worker(base, workers, args[0])
        _making.__init__()
        _making.active = True
        if core.wants_ops():
            from headway_pytorch import ops

            ops.detach()
        nvtx.name_thread("loader %d" % args[0])
        dataset = torch.utils.data.get_worker_info().dataset
        _making.in_memory = is_in_memory(dataset)
        _watch(type(dataset), isinstance(dataset, torch.utils.data.IterableDataset))


def _watch(dataset, iterable):
    """Only in this process: the class of the dataset tells when it is asked for samples."""
    try:
        if iterable:
            core.wrap(dataset, "__iter__", None, _after_iterate, "dataset")
            return
        for attribute in ("__getitem__", "__getitems__"):
            if any(attribute in vars(owner) for owner in dataset.__mro__):
                core.wrap(dataset, attribute, _before_sample, _after_sample, "dataset")
    except TypeError:  # a type of C code: collate alone tells
        pass


def _before_sample(args, kwargs):
    if _making.active:
        if _making.level == 0 and _making.batch is None:
            _making.begin(_worker.next_batch())
        _making.level += 1


def _after_sample(token, error, result):
    if _making.active and _making.level > 0:
        _making.level -= 1
        if error and _making.level == 0:
            _making.end()


def _after_next_sample(token, error, result):
    if not _making.active or _making.level == 0:
        return
    _making.level -= 1
    if not error:
        _making.samples += 1
    elif _making.level == 0:  # the end of the dataset, mostly
        if _making.samples:
            _making.partial = _making.batch
        else:
            _worker.made -= 1
        _making.end()


def _after_iterate(token, error, iterator):
    """A pass over an iterable dataset begins: its samples are asked for through this iterator."""
    if error or not _making.active or _making.batch is not None:
        return None
    _worker.epoch += 1
    _worker.made = 0
    samples = Wrapper(iterator.__next__, _before_sample, _after_next_sample, "dataset")
    methods = {"__iter__": lambda self: self, "__next__": staticmethod(samples)}
    return type("HeadwaySamples", (), methods)()
