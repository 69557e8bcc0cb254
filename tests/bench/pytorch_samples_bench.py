# SPDX-License-Identifier: MIT
"""What samples of the stack cost: on and off in pairs of blocks inside one process, in random order.

headway record -o samples.sqlite -- python3 tests/bench/pytorch_samples_bench.py python|ops PAIRS
"""
import math
import random
import statistics
import sys
import time

import _headway_nvtx as nvtx
import torch

import headway_pytorch.core as core
import headway_pytorch.sampling as sampling

STEPS_IN_BLOCK = 8
WARM_UP = 20
QUIET_S = 0.006  # the sampler's thread sees that it was switched off


def python_work():
    """5 ms of a step that is nearly all Python."""
    total = 0.0
    for i in range(60000):
        total += math.sin(i)
    return total


def small_ops(data):
    for _ in range(120):
        torch.stack([data[0], data[1]]).sum().item()


def make_step(kind):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(32, 64)

    def step():
        if kind == "python":
            python_work()
        else:
            small_ops(data)
        loss = torch.nn.functional.mse_loss(model(data), data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def block(step, samples):
    """Milliseconds of a step: by the wall's clock, by the thread's."""
    nvtx.stop_sampling()
    time.sleep(QUIET_S)
    if samples:
        nvtx.sample(sampling._folders(), True, core.failed("samples"))
    step()
    wall, processor = time.perf_counter(), time.thread_time()
    for _ in range(STEPS_IN_BLOCK):
        step()
    return [(end - begin) / STEPS_IN_BLOCK * 1e3
            for begin, end in ((wall, time.perf_counter()), (processor, time.thread_time()))]


def main():
    kind, pairs = sys.argv[1], int(sys.argv[2])
    step = make_step(kind)
    for _ in range(WARM_UP):
        step()
    chance = random.Random(1)
    measured = [{on: block(step, on) for on in chance.sample([True, False], 2)} for _ in range(pairs)]
    for clock, name in enumerate(("wall", "cpu")):
        changes = [pair[True][clock] / pair[False][clock] - 1 for pair in measured]
        drawn = sorted(statistics.median(chance.choices(changes, k=len(changes))) for _ in range(2000))
        print("%s %s: %.3f ms a step; samples cost %+.2f %% (95 %%: %+.2f to %+.2f)"
              % (kind, name, statistics.median(pair[False][clock] for pair in measured), 100 * statistics.median(changes),
                 100 * drawn[50], 100 * drawn[1949]))


main()
