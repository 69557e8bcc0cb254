#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one step of PyTorch on a processor takes after a wait: milliseconds, median of 12 to 60.

  python3 tests/bench/cold_caches_bench.py

Without PyTorch it says so and ends with 0. What is small (products of 64 x 64, a loop in Python) shows whether a clock falls; what
uses much code and data, whether caches are lost (docs/design/0085-cold-caches.md)."""
import statistics
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: no PyTorch in this Python")
    sys.exit(0)

WAITS_MS = (0, 0.3, 1, 3, 10, 30)


def training(model, inputs, optimizer):
    def step():
        optimizer.zero_grad()
        model(inputs).pow(2).mean().backward()
        optimizer.step()
    return step


def transformer(width, depth, batch, length):
    layers = [nn.TransformerEncoderLayer(width, 4, 4 * width, 0, batch_first=True, norm_first=True) for _ in range(depth)]
    model = nn.Sequential(*layers, nn.Linear(width, 2000))
    return training(model, torch.randn(batch, length, width), torch.optim.AdamW(model.parameters(), 1e-3))


def convolutions(width, depth, batch, size):
    blocks = [part for _ in range(depth) for part in (nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU())]
    model = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), *blocks).to(memory_format=torch.channels_last)
    inputs = torch.randn(batch, 3, size, size).to(memory_format=torch.channels_last)
    return training(model, inputs, torch.optim.SGD(model.parameters(), 1e-3))


def products():
    matrix = torch.randn(64, 64)

    def step():
        for _ in range(300):
            torch.mm(matrix, matrix)
    return step


def python_loop():
    total = 0
    for i in range(60000):
        total += i * i


def after(wait_ms, step):
    times = []
    for _ in range(max(12, min(60, int(600 / (wait_ms + 5))))):
        if wait_ms:
            time.sleep(wait_ms / 1e3)
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{'after a wait of so many ms':34}" + "".join(f"{wait:8g}" for wait in WAITS_MS))
    for name, step in (("transformer, width 32, batch 2", transformer(32, 1, 2, 16)), ("transformer, width 64, batch 8", transformer(64, 3, 8, 32)),
                       ("convolutions, width 8, batch 8", convolutions(8, 4, 8, 32)), ("300 products of 64 x 64", products()), ("60,000 turns of a loop in Python", python_loop)):
        for _ in range(20):
            step()
        print(f"{name:34}" + "".join(f"{after(wait, step):8.2f}" for wait in WAITS_MS))


if __name__ == "__main__":
    main()
