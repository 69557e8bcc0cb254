# SPDX-License-Identifier: MIT
"""Ranges for making a batch: samples, then collate; in a worker process, or on the thread that waits.

The objects here are sent to workers, also by pickle, so this module imports nothing from PyTorch at its top.
"""
from headway_pytorch import core
from headway_pytorch.core import Wrapper, nvtx
from headway_pytorch.draws import Draws

EPOCHS = 1_000_000  # batch numbers of one pass over an iterable dataset with persistent workers; as in native/making.h

nvtx.start_making(Draws)


def is_in_memory(dataset):
    """Whether the samples of the dataset are in memory already, as far as PyTorch's own types show."""
    import torch.utils.data as data

    while isinstance(dataset, data.Subset):
        dataset = dataset.dataset
    if isinstance(dataset, data.ConcatDataset):
        return all(is_in_memory(part) for part in dataset.datasets)
    return type(dataset) in (data.TensorDataset, list, tuple)


class CollateWrapper(Wrapper):
    def __init__(self, fn):
        super().__init__(fn, nvtx.around_collate, None, "collate")
        self.fn = fn

    def __reduce__(self):
        return CollateWrapper, (self.fn,)


# ---- workers


def _no_init(worker_id):
    return None


class WorkerInitWrapper(Wrapper):
    """Calls our worker_init_fn, then the program's, if it has one."""

    def __init__(self, fn, plan):
        super().__init__(fn or _no_init, self.begin, None, "worker")
        self.fn = fn
        self.plan = plan

    def __reduce__(self):
        return WorkerInitWrapper, (self.fn, self.plan)

    def begin(self, args, kwargs):
        if not core.start():
            return
        import torch.utils.data

        base, workers = self.plan
        nvtx.become_worker(base, workers, args[0])
        if core.wants_ops():
            from headway_pytorch import ops

            ops.detach()
        nvtx.name_thread("loader %d" % args[0])
        dataset = torch.utils.data.get_worker_info().dataset
        nvtx.set_in_memory(is_in_memory(dataset))
        _watch(type(dataset), isinstance(dataset, torch.utils.data.IterableDataset))


def _watch(dataset, iterable):
    """Hooks the dataset's class, in this process only, to see when samples are asked for."""
    try:
        if iterable:
            core.wrap(dataset, "__iter__", None, _after_iterate, "dataset")
            return
        for attribute in ("__getitem__", "__getitems__"):
            if any(attribute in vars(owner) for owner in dataset.__mro__):
                core.wrap(dataset, attribute, nvtx.around_sample, None, "dataset")
    except TypeError:  # a class implemented in C: only collate is seen
        pass


def _after_iterate(token, error, iterator):
    """A pass over an iterable dataset begins: wraps its iterator, which gives the samples."""
    if error or not nvtx.pass_begins():
        return None
    samples = Wrapper(iterator.__next__, nvtx.around_next_sample, None, "dataset")
    methods = {"__iter__": lambda self: self, "__next__": staticmethod(samples)}
    return type("HeadwaySamples", (), methods)()
