#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains one model of trainer_vs_pytorch.py with PyTorch, once for each usual setting (memory layout, fused optimizer). Prints the
step durations of the fastest setting in seconds, as JSON. Run it with a Python that has PyTorch.
Usage: pytorch_models.py CASE --device cpu|cuda --precision fp32|tf32|amp|bf16 --threads N --steps N [--compile]"""
import argparse
import contextlib
import json
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Basic(nn.Module):
    """The block of ResNet-20: two 3x3 convolutions."""

    expansion = 1

    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = shortcut(in_channels, channels, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.shortcut(x), inplace=True)


class Bottleneck(nn.Module):
    """The block of ResNet-50: convolutions of 1x1, 3x3 (with the stride) and 1x1."""

    expansion = 4

    def __init__(self, in_channels, channels, stride):
        super().__init__()
        out_channels = channels * self.expansion
        self.conv1, self.bn1 = nn.Conv2d(in_channels, channels, 1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = nn.Conv2d(channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels)
        self.shortcut = shortcut(in_channels, out_channels, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = F.relu(self.bn2(self.conv2(y)), inplace=True)
        return F.relu(self.bn3(self.conv3(y)) + self.shortcut(x), inplace=True)


def shortcut(in_channels, out_channels, stride):
    if stride == 1 and in_channels == out_channels:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels))


def resnet(block, blocks, width, stem, classes):
    layers, in_channels = list(stem), stem[0].out_channels
    for stage, count in enumerate(blocks):
        for number in range(count):
            layers.append(block(in_channels, width << stage, 2 if stage and not number else 1))
            in_channels = (width << stage) * block.expansion
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(in_channels, classes))


def resnet20():
    return resnet(Basic, [3, 3, 3], 16, [nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)], 10)


def resnet50(classes):
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    return resnet(Bottleneck, [3, 4, 6, 3], 64, stem, classes)


class Block(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv, self.proj = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.fc1, self.fc2 = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + F.dropout(self.proj(y), 0.1)
        y = self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate="tanh"))
        return x + F.dropout(y, 0.1)


class Gpt(nn.Module):
    def __init__(self, layers, heads, c, sequence):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, c), nn.Embedding(sequence, c)
        self.blocks = nn.Sequential(*[Block(c, heads) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(c), nn.Linear(c, 256, bias=False)
        self.register_buffer("position_ids", torch.arange(sequence))

    def forward(self, x):
        return self.head(self.ln(self.blocks(self.tokens(x) + self.positions(self.position_ids)))).view(-1, 256)


# name: (layers, heads, features, sequence, batch)
GPTS = {"transformer": (4, 4, 256, 128, 8), "transformer-small": (4, 4, 128, 128, 8), "gpt2-small": (12, 12, 768, 1024, 16)}
BATCH = {"resnet20": 32, "resnet50": 128}


def settings_of(case, device):
    """Yields (model, input, labels, optimizer) for each setting that a user would try."""
    if case in BATCH:
        batch, shape, classes = BATCH[case], ((1, 28, 28) if case == "resnet20" else (3, 224, 224)), 10
        for layout in (torch.channels_last, torch.contiguous_format):
            model = (resnet20() if case == "resnet20" else resnet50(classes)).to(device, memory_format=layout)
            x = torch.randn(batch, *shape, device=device).to(memory_format=layout)
            optimizer = torch.optim.SGD(model.parameters(), 0.05, 0.9, weight_decay=1e-4, **({"fused": True} if device == "cuda" else {}))
            yield model, x, torch.randint(0, classes, (batch,), device=device), optimizer
        return
    layers, heads, features, sequence, batch = GPTS[case]
    for fused in (True, False):
        model = Gpt(layers, heads, features, sequence).to(device)
        try:
            optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-4, fused=fused)
        except (RuntimeError, TypeError):
            continue
        yield model, torch.randint(0, 256, (batch, sequence), device=device), torch.randint(0, 256, (batch * sequence,), device=device), optimizer


def step_durations(setting, device, precision, steps, compiled):
    model, x, labels, optimizer = setting
    run = torch.compile(model) if compiled else model
    half = {"amp": torch.float16, "bf16": torch.bfloat16}.get(precision)
    scaler = torch.amp.GradScaler(device, enabled=precision == "amp")
    result = []
    warm_up = 15 if device == "cuda" else 5
    for step in range(steps + warm_up):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, half) if half else contextlib.nullcontext():
            loss = F.cross_entropy(run(x), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if device == "cuda" and (step == warm_up - 1 or step == steps + warm_up - 1):
            torch.cuda.synchronize()
            if step == warm_up - 1:
                measured_from = time.perf_counter()
        if step >= warm_up:
            result.append(time.perf_counter() - start)
    # The host runs ahead of a GPU, so only the total time of the steps is known: report their mean.
    return [(time.perf_counter() - measured_from) / steps] * steps if device == "cuda" else result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=[*BATCH, *GPTS])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="fp32", choices=["fp32", "tf32", "amp", "bf16"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    results = [step_durations(setting, options.device, options.precision, options.steps, options.compile)
               for setting in settings_of(options.case, options.device)]
    print(json.dumps({"version": torch.__version__, "steps": min(results, key=lambda r: sorted(r)[len(r) // 2])}))


if __name__ == "__main__":
    main()
