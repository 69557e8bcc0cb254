# SPDX-License-Identifier: MIT
"""Small PyTorch programs as people write them; nothing in here knows that it may be recorded.

pytorch_train.py train METHOD WORKERS | iterable | endless WORKERS | no_loader | cuda STEPS | environment SHARES | returns_memory STEPS | gan | error WHERE WORKERS | odd_module |
transforms | pictures SIZES | draws GENERATOR WORKERS | masks | reads_ahead | evaluates_ahead | profiled | in_memory | own_evaluation | frozen | no_optimizer | closure | lazy_compile | pauses FOLDER |
ranks SLOW (by torchrun; rank 1 sleeps in its input or computes in its optimizer: input, optimizer, nowhere)
"""
import contextlib
import ctypes
import gc
import os
import random
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

ACCUMULATE = 2  # batches per step


class Images(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        image = torch.rand(3, 24, 24, generator=torch.Generator().manual_seed(i))
        for _ in range(4):
            image = image.sin()
        return image, i % 10


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for i in range(first, 50, step):
            yield torch.tensor([float(i)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU())
        self.head = nn.Linear(32 * 20 * 20, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


class Odd(nn.Linear):
    """Lists its modules for those only who say how."""

    def named_modules(self, *args, **kwargs):
        if not kwargs:
            raise RuntimeError("not listed\x1b[31m")
        return super().named_modules(*args, **kwargs)


def train(method, workers):
    options = {"num_workers": workers}
    if workers:
        options["multiprocessing_context"] = method
    net, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Images(384), batch_size=16, shuffle=True, **options)
    held_out = DataLoader(Images(32), batch_size=16, **options)
    for epoch in range(2):
        net.train()
        for i, (images, labels) in enumerate(loader):
            loss = criterion(net(images), labels) / ACCUMULATE
            loss.backward()
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        net.eval()
        with torch.no_grad():
            right = sum((net(images).argmax(1) == labels).sum().item() for images, labels in held_out)
        print(epoch, repr(loss.item()), right)


class Drawn(Dataset):
    """Samples that are changed at random, as the generator of that name has it: random, torch, or own."""

    def __init__(self, generator):
        self.generator = generator
        self.own = torch.Generator().manual_seed(0)

    def __len__(self):
        return 96

    def __getitem__(self, i):
        if self.generator == "random":
            return torch.ones(4) * random.random()
        return torch.rand(4, generator=self.own if self.generator == "own" else None)


def draws(generator, workers):
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for x in DataLoader(Drawn(generator), batch_size=8, shuffle=True, num_workers=workers):
        fit(net, optimizer, x)
    print(repr(torch.rand(1).item()), repr(random.random()))


def masks():
    """Sentences of 1 to 8 tokens in batches of one each, padded to 8."""
    net = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def collate(lengths):
        mask = torch.stack([(torch.arange(8) < n).long() for n in lengths])
        return {"input_ids": mask * 7, "attention_mask": mask}

    for batch in DataLoader([1 + i % 8 for i in range(160)], batch_size=8, collate_fn=collate):
        fit(net, optimizer, batch["input_ids"].float())


def fit(net, optimizer, x):
    optimizer.zero_grad()
    loss = (net(x) - x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def iterable():
    net = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for dataset, persistent in ((Stream(), False), (Stream(), True), (Images(40), True), ([1.0] * 8, False)):
        loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=persistent)
        for epoch in range(2):
            for i, batch in enumerate(loader):
                x = (batch[0] if isinstance(batch, list) else batch).float().reshape(-1, 1)
                print(repr(fit(net, optimizer, x)))
                if persistent and epoch == 0 and i == 3:
                    break
    # Passes of two loaders in turns, whose workers live on.
    trained, tried = (DataLoader(Stream(), batch_size=4, num_workers=2, persistent_workers=True) for _ in range(2))
    for _ in range(2):
        for batch in trained:
            print(repr(fit(net, optimizer, batch.float().reshape(-1, 1))))
        with torch.no_grad():
            for batch in tried:
                net(batch.float().reshape(-1, 1))


class Endless(DataLoader):
    """Passes of its own: all of them are of one iterator, whose sampler never ends."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Again(self.batch_sampler))
        self.iterator = None

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        if self.iterator is None:
            self.iterator = self._get_iterator()
        for _ in range(len(self)):
            yield next(self.iterator)


class Again:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


def endless(workers):
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epochs, loader in ((3, Endless(Images(32), batch_size=4, num_workers=workers)),
                           (1, DataLoader(Images(8), batch_size=4, num_workers=workers))):
        for _ in range(epochs):
            for batch in loader:
                print(repr(fit(net, optimizer, batch[1].float().reshape(-1, 1))))


def no_loader():
    net = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(10):
        print(repr(fit(net, optimizer, torch.ones(8, 4))))


def cuda(steps):
    """Loads the recorder's library as the CUDA driver does inside cuInit."""
    ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        fit(net, optimizer, torch.ones(8, 4))


def play(moves):
    """An environment: Python that calls no op."""
    total = 0
    for i in range(moves):
        total += i % 7
    return total


def environment(shares):
    """Writes what part of the time play() and the sleep took to the file `shares`."""
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    playing = sleeping = 0
    begin = time.perf_counter()
    for _ in range(100):
        before = time.perf_counter()
        score = play(200_000)
        playing += time.perf_counter() - before
        print(score, repr(fit(net, optimizer, torch.ones(8, 4))))
        before = time.perf_counter()
        time.sleep(0.005)
        sleeping += time.perf_counter() - before
    whole = time.perf_counter() - begin
    with open(shares, "w") as file:
        print(playing / whole, sleeping / whole, file=file)


def returns_memory(steps):
    """40 MB of new memory in each step: the C library maps as much each time, and gives it back."""
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        fit(net, optimizer, torch.ones(2_500_000, 4).mean(0, keepdim=True))


def gan():
    generator, judge = nn.Linear(4, 4), nn.Linear(4, 1)
    for_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
    for_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
    for _ in range(10):
        for _ in range(2):
            for_judge.zero_grad()
            judge(generator(torch.ones(8, 4)).detach()).mean().backward()
            for_judge.step()
        for_generator.zero_grad()
        judge(generator(torch.ones(8, 4))).mean().backward()
        for_generator.step()
        time.sleep(0.001)


def refuse(batch):
    raise ValueError("cannot collate %d samples" % len(batch))


def refuse_worker(worker):
    raise KeyError("worker %d" % worker)


def error(where, workers):
    options = {"collate_fn": refuse} if where == "collate" else {"worker_init_fn": refuse_worker}
    for _ in DataLoader(Images(8), batch_size=4, num_workers=workers, **options):
        pass


def odd_module():
    net = Odd(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        print(repr(fit(net, optimizer, torch.ones(8, 4))))


class Transformed(Dataset):
    """Prepares its samples with a module, as torchvision's transforms are."""

    def __init__(self):
        self.transform = nn.Softmax(0)

    def __len__(self):
        return 80

    def __getitem__(self, i):
        return self.transform(torch.ones(4) * i)


def transforms():
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Transformed(), batch_size=8, num_workers=2):
        print(repr(fit(net, optimizer, x)))


class Pictures(Dataset):
    """Files of one picture, which are decoded, made smaller, and of which a part is then made larger. `drawn`: made
    smaller to a size of its own each."""

    def __init__(self, folder, drawn):
        from PIL import Image

        self.drawn = drawn

        self.names = [os.path.join(folder, "%d.png" % i) for i in range(40)]
        for name in self.names:
            Image.new("RGB", (64, 48), (200, 100, 50)).save(name)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        from PIL import Image

        with Image.open(self.names[i]) as file:
            picture = file.convert("RGB").resize((24 + i, 20 + i) if self.drawn else (32, 24))
        part = picture.crop((i % 4, 0, i % 4 + 16, 16)).resize((24, 24))
        part = part.resize((8, 8), box=(0, 0, 12, 12))
        return torch.tensor(list(part.tobytes()), dtype=torch.float32)


def pictures(drawn):
    import tempfile

    net = nn.Linear(192, 192)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with tempfile.TemporaryDirectory() as folder:
        for x in DataLoader(Pictures(folder, drawn == "drawn"), batch_size=4):
            fit(net, optimizer, x)


def ahead(loader):
    """Asks for a batch before the one before is used, to copy it meanwhile."""
    batches = iter(loader)
    current = next(batches)
    for following in batches:
        yield current
        current = following
    yield current


def reads_ahead():
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        net.train()
        for x in ahead(DataLoader([torch.ones(4)] * 80, batch_size=8)):
            print(repr(fit(net, optimizer, x)))
        net.eval()
        with torch.no_grad():
            print(sum(net(x).sum().item() for x in DataLoader([torch.ones(4)] * 80, batch_size=40)))


def evaluates_ahead():
    """As Accelerate does: both loaders read ahead, and gradients are off only around the model. Evaluation takes most of the time."""
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        net.train()
        for x in ahead(DataLoader([torch.ones(4)] * 80, batch_size=8)):
            print(repr(fit(net, optimizer, x)))
        net.eval()
        for x in ahead(DataLoader([torch.ones(4)] * 80, batch_size=8)):
            with torch.no_grad():
                total = net(x).sum().item()
            time.sleep(0.005)
        print(repr(total))


def profiled():
    """PyTorch's own profiler, with stacks, in 10 of 60 steps."""
    from torch.profiler import ProfilerActivity, profile, schedule

    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    plan = schedule(wait=29, warmup=1, active=10, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, with_stack=True) as profiler:
        for x in DataLoader([torch.ones(8)] * 480, batch_size=8):
            print(repr(fit(net, optimizer, x)))
            profiler.step()
    print(any(event.name == "nn.Module: Sequential_0" for event in profiler.events()) or "stacks")


def in_memory():
    """Batches of many samples from tensors, which take longer to put together than to train on."""
    from torch.utils.data import TensorDataset

    net = nn.Linear(16, 16)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for (x,) in DataLoader(TensorDataset(torch.ones(30000, 16)), batch_size=500):
        print(repr(fit(net, optimizer, x)))


def own_evaluation():
    """No loader; a look at held-out data every fifth step."""
    net, held_out = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(64, 4)
    optimizer = torch.optim.AdamW(net.parameters())
    for i in range(20):
        if i % 5 == 0:
            net.eval()
            with torch.no_grad():
                print(repr(sum(net(held_out).sum().item() for _ in range(50))))
            time.sleep(0.02)
            net.train()
        print(repr(fit(net, optimizer, torch.ones(8, 4))))


def frozen():
    """A part stays in evaluation mode and the whole is trained."""
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(10):
        net.train()
        net[1].eval()
        print(repr(fit(net, optimizer, torch.ones(8, 4))))


def pauses(folder):
    """What belongs to no step, with the batch still at hand; and a model that is frozen after an update."""
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
    optimizer = torch.optim.AdamW(net.parameters())
    for i, x in enumerate(DataLoader([torch.ones(64)] * 320, batch_size=16)):
        print(repr(fit(net, optimizer, x)))
        if i % 4 == 0:
            net.eval()
            with torch.no_grad():
                print(repr(sum(net(x).sum().item() for _ in range(50))))
            net.train()
        if i % 5 == 0:
            torch.save({"model": net.state_dict()}, folder + "/checkpoint.pt")
        if i % 10 == 0:
            gc.collect()
        if i % 10 == 3:
            net.eval()
            fit(net, optimizer, x)
            net.train()


def after_epochs():
    """Evaluations without a loader, after the last batch of an epoch."""
    net = nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        for x in DataLoader([torch.ones(64)] * 80, batch_size=8):
            print(repr(fit(net, optimizer, x)))
        net.eval()
        with torch.no_grad():
            print(repr(sum(net(torch.ones(8, 64)).sum().item() for _ in range(50))))
        net.train()


def no_optimizer():
    """The program updates its weights itself."""
    net = nn.Linear(4, 4)
    for _ in range(12):
        net.zero_grad()
        loss = (net(torch.ones(8, 4)) - 1).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for weight in net.parameters():
                weight -= 0.1 * weight.grad
        print(repr(loss.item()))


def closure():
    """The optimizer calls the batch's work, as some frameworks have it."""
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    solver = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def work():
        time.sleep(0.005)
        net.zero_grad()
        loss = (net(torch.ones(8, 4)) - 1).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(10):
        print(repr(optimizer.step(work).item()))
    print(repr(solver.step(work).item()))


def lazy_compile():
    """A library's function that is compiled if it is ever called; it is not."""
    getattr(torch, "compile", lambda function: function)(fit)
    no_loader()


class SlowOptimizer(torch.optim.SGD):
    """Computes a second time when it is told to."""

    again = 0

    def step(self, closure=None):
        super().step(closure)
        product = torch.ones(256, 256)
        for _ in range(self.again):
            product = product @ product * 1e-3


def ranks(slow):
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    distributed.init_process_group("gloo")
    late = distributed.get_rank() == 1
    net = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)))
    optimizer = SlowOptimizer(net.parameters(), lr=1e-3)
    optimizer.again = 12 if late and slow == "optimizer" else 0

    def collate(batch):
        time.sleep(0.03 if late and slow == "input" else 0)
        return torch.stack(batch)

    for x in DataLoader([torch.ones(256)] * 640, batch_size=16, collate_fn=collate):
        loss = fit(net, optimizer, x)
    total = torch.tensor([loss])
    distributed.all_reduce(total)
    distributed.barrier()
    if distributed.get_rank() == 0:
        print(repr(total.item()))
    distributed.destroy_process_group()


def accumulated(exchanged):
    """Two batches a step, whose gradients are exchanged once or after each."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    distributed.init_process_group("gloo")
    net = DistributedDataParallel(nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for i, x in enumerate(DataLoader([torch.ones(1024)] * 640, batch_size=8)):
        last = i % 2 == 1
        with contextlib.nullcontext() if last or exchanged == "each" else net.no_sync():
            net(x).mean().backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    distributed.destroy_process_group()


if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    what, arguments = sys.argv[1], [int(a) if a.isdigit() else a for a in sys.argv[2:]]
    globals()[what](*arguments)
