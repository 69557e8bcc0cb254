# SPDX-License-Identifier: MIT
"""What the hook of PyTorch costs a training loop: on and off in pairs of blocks inside one process, in random order.

headway record -o hook.sqlite -- python3 tests/bench/pytorch_hook_bench.py MODEL PAIRS [--workers N] [--samples off]

MODEL: mlp (8 modules), conv (12) or transformer (some 40), with steps of 2 to 10 ms on one core; a DataLoader, cross entropy, Adam.
Recorded with --pytorch=ops it tells what that costs. Off: every function of PyTorch is as it was, and nothing samples the stack.
"""
import argparse
import importlib
import random
import statistics
import sys
import time

import _headway_nvtx as nvtx
import torch
import torch.utils.data

import headway_pytorch.core as core
import headway_pytorch.sampling as sampling

STEPS_IN_BLOCK = 10
WARM_UP = 30
QUIET_S = 0.006  # the sampler's thread sees that it was switched off
hooks = importlib.import_module("torch.optim.optimizer")  # not an attribute in all versions


def make_model(kind):
    """-> model, shape of a sample, classes"""
    nn = torch.nn
    if kind == "mlp":
        layers = [nn.Linear(512, 512), nn.ReLU()] * 3 + [nn.Linear(512, 100)]
        return nn.Sequential(*layers), (512,)
    if kind == "conv":
        def stage(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

        return nn.Sequential(stage(3, 8), stage(8, 8), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 100)), (3, 16, 16)
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 3), nn.Flatten(), nn.Linear(64 * 16, 100)), (16, 64)


def places():
    """Where functions of ours stand in front of PyTorch's: (owner, attribute, wrapped)."""
    owners = [torch.nn.Module, torch.optim.Optimizer, torch.autograd, torch.utils.data.DataLoader]
    dataloader = torch.utils.data.dataloader
    owners += [value for value in vars(dataloader).values() if isinstance(value, type) and "Iter" in value.__name__]
    return [(owner, attribute, value) for owner in owners for attribute, value in list(vars(owner).items())
            if isinstance(value, (nvtx.Call, nvtx.ModuleCall))]


class Switch:
    def __init__(self, samples):
        self.samples = samples
        self.places = places()
        self.hooks = [(table, dict(table)) for table in (hooks._global_optimizer_pre_hooks, hooks._global_optimizer_post_hooks)]

    def set(self, on):
        for owner, attribute, wrapped in self.places:
            setattr(owner, attribute, wrapped if on else wrapped.__wrapped__)
        for table, entries in self.hooks:
            table.clear()
            if on:
                table.update(entries)
        nvtx.stop_sampling()
        time.sleep(QUIET_S)
        if on and self.samples:
            nvtx.sample(sampling._folders(), (3, 9) <= sys.version_info < (3, 13), core.failed("samples"))


class Loop:
    def __init__(self, kind, workers):
        self.model, shape = make_model(kind)
        data = torch.utils.data.TensorDataset(torch.randn(3200, *shape), torch.randint(100, (3200,)))
        self.loader = torch.utils.data.DataLoader(data, batch_size=32, num_workers=workers, persistent_workers=workers > 0)
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.batches = iter(self.loader)

    def step(self):
        try:
            inputs, targets = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            inputs, targets = next(self.batches)
        self.optimizer.zero_grad()
        self.loss(self.model(inputs), targets).backward()
        self.optimizer.step()


def block(loop, switch, on):
    """Milliseconds of a step: by the wall's clock, by the thread's."""
    switch.set(on)
    loop.step()
    wall, processor = time.perf_counter(), time.thread_time()
    for _ in range(STEPS_IN_BLOCK):
        loop.step()
    return [(end - begin) / STEPS_IN_BLOCK * 1e3
            for begin, end in ((wall, time.perf_counter()), (processor, time.thread_time()))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=("mlp", "conv", "transformer"))
    parser.add_argument("pairs", type=int)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--samples", choices=("on", "off"), default="on")
    options = parser.parse_args()
    torch.set_num_threads(1)
    loop = Loop(options.model, options.workers)
    for _ in range(WARM_UP):
        loop.step()
    switch = Switch(options.samples == "on")
    chance = random.Random(1)
    measured = [{on: block(loop, switch, on) for on in chance.sample([True, False], 2)} for _ in range(options.pairs)]
    for clock, name in enumerate(("wall", "processor")):
        changes = [pair[True][clock] - pair[False][clock] for pair in measured]
        plain = statistics.median(pair[False][clock] for pair in measured)
        drawn = sorted(statistics.median(chance.choices(changes, k=len(changes))) for _ in range(2000))
        low, middle, high = drawn[50], statistics.median(changes), drawn[1949]
        print("%s, %s: %.3f ms a step without the hook; it costs %.1f us (95 %%: %.1f to %.1f), %.2f %%"
              % (options.model, name, plain, 1e3 * middle, 1e3 * low, 1e3 * high, 100 * middle / plain))


main()
