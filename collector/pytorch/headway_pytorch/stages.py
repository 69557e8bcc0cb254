# SPDX-License-Identifier: MIT
"""How a batch is made: samples, then collate; in a worker process, or on the thread that waits.

The objects here travel to workers, also by pickle, so this module imports nothing of PyTorch at its top.
"""
from headway_pytorch import core
from headway_pytorch.core import Wrapper, nvtx
from headway_pytorch.draws import Draws

EPOCHS = 1_000_000  # numbers of one pass over an iterable dataset with persistent workers; as in native/making.cc

nvtx.start_making(Draws)


def is_in_memory(dataset):
    """Samples of the dataset are made already, as far as PyTorch's own types tell."""
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
    """The worker_init_fn of the program, or none, and ours before it."""

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
    """Only in this process: the class of the dataset tells when it is asked for samples."""
    try:
        if iterable:
            core.wrap(dataset, "__iter__", None, _after_iterate, "dataset")
            return
        for attribute in ("__getitem__", "__getitems__"):
            if any(attribute in vars(owner) for owner in dataset.__mro__):
                core.wrap(dataset, attribute, nvtx.around_sample, None, "dataset")
    except TypeError:  # a type of C code: collate alone tells
        pass


def _after_iterate(token, error, iterator):
    """A pass over an iterable dataset begins: its samples are asked for through this iterator."""
    if error or not nvtx.pass_begins():
        return None
    samples = Wrapper(iterator.__next__, nvtx.around_next_sample, None, "dataset")
    methods = {"__iter__": lambda self: self, "__next__": staticmethod(samples)}
    return type("HeadwaySamples", (), methods)()
