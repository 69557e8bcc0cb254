# SPDX-License-Identifier: MIT
"""What the hook of PyTorch costs a training loop: on and off in blocks inside one process, in random order.

headway record -o hook.sqlite -- python3 tests/bench/pytorch_hook_bench.py MODEL ROUNDS [--steps N] [--workers N] [--samples off] [--against profiler]

MODEL: mlp (8 modules), conv (12) or transformer (some 40), with steps of 2 to 10 ms on one core; a DataLoader, cross entropy, Adam.
Recorded with --pytorch=ops it tells what that costs, too. Off: every function of PyTorch is as it was, and nothing samples the stack.
--steps: in a block, 10; on a busy machine with few, and many rounds, the two of a pair meet the same neighbours.
--against profiler: a block of each round has torch.profiler instead (CPU, default options), which starts before and stops after it.
"""
import argparse
import gc
import importlib
import random
import statistics
import sys
import time

import _headway_nvtx as nvtx
import torch
import torch.utils.data

import headway_pytorch.core as core
import headway_pytorch.ops as ops
import headway_pytorch.sampling as sampling

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
        tables = [getattr(hooks, "_global_optimizer_%s_hooks" % when, {}) for when in ("pre", "post")]  # of PyTorch 2
        self.hooks = [(table, dict(table)) for table in tables]
        self.mode, self.has_mode = ops._mode, ops._mode is not None
        self.profiler = None

    def set(self, state):
        """plain, hook, ops or profiler"""
        on = state in ("hook", "ops")
        for owner, attribute, wrapped in self.places:
            setattr(owner, attribute, wrapped if on else wrapped.__wrapped__)
        for table, entries in self.hooks:
            table.clear()
            if on:
                table.update(entries)
        if self.has_mode != (state == "ops"):
            self.has_mode = state == "ops"
            self.mode.__enter__() if self.has_mode else self.mode.__exit__(None, None, None)
        if self.samples:
            nvtx.stop_sampling()
            time.sleep(QUIET_S)
        if on and self.samples:
            nvtx.sample(sampling._folders(), (3, 9) <= sys.version_info < (3, 13), core.failed("samples"))
        if state == "profiler":
            self.profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
            self.profiler.start()

    def end(self):
        if self.profiler:
            self.profiler.stop()
            self.profiler = None
            gc.collect()  # what is left of a block is no other's


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


def block(loop, switch, state, count):
    """Microseconds of its median step: by the wall's clock, by the thread's."""
    switch.set(state)
    loop.step()
    steps = []
    for _ in range(count):
        wall, processor = time.perf_counter(), time.thread_time()
        loop.step()
        steps.append((time.perf_counter() - wall, time.thread_time() - processor))
    switch.end()
    return [statistics.median(clock) * 1e6 for clock in zip(*steps)]


def interval(rounds, figure, chance):
    """95 % of the figure: of rounds that are drawn again."""
    drawn = sorted(figure(chance.choices(rounds, k=len(rounds))) for _ in range(2000))
    return drawn[50], drawn[1949]


def cost(clock, state):
    return lambda rounds: statistics.median(each[state][clock] - each["plain"][clock] for each in rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=("mlp", "conv", "transformer"))
    parser.add_argument("rounds", type=int)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--samples", choices=("on", "off"), default="on")
    parser.add_argument("--against", choices=("profiler",))
    options = parser.parse_args()
    torch.set_num_threads(1)
    loop = Loop(options.model, options.workers)
    for _ in range(WARM_UP):
        loop.step()
    switch = Switch(options.samples == "on")
    nvtx.stop_sampling()
    states = ["plain", "hook"] + ["ops"] * switch.has_mode + ["profiler"] * (options.against is not None)
    chance = random.Random(1)
    measured = [{state: block(loop, switch, state, options.steps) for state in chance.sample(states, len(states))} for _ in range(options.rounds)]
    for clock, name in enumerate(("wall", "processor")):
        plain = statistics.median(each["plain"][clock] for each in measured)
        print("%s, %s: %.3f ms a step without the hook" % (options.model, name, plain / 1e3))
        for state in states[1:]:
            low, high = interval(measured, cost(clock, state), chance)
            middle = cost(clock, state)(measured)
            print("  %-8s costs %.1f us (95 %%: %.1f to %.1f), %.2f %%" % (state, middle, low, high, 100 * middle / plain))
        if "ops" in states and "profiler" in states:
            def ratio(rounds):
                return cost(clock, "ops")(rounds) / cost(clock, "profiler")(rounds)
            print("  ops cost %.2f times as much as the profiler (95 %%: %.2f to %.2f)"
                  % (ratio(measured), *interval(measured, ratio, chance)))


main()
