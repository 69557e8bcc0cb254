#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the kernels of headway_bench_kernels_cuda with PyTorch on the same shapes and formats: eager, and with torch.compile if it can fuse.
Optimizers beside PyTorch's fused and foreach forms, which do what Apex's do. Prints a Markdown table; ratio: PyTorch's best time over ours.
Usage: pytorch_kernels.py KERNEL_BENCH_JSON [--json FILE] [--device cuda|cpu]   (cpu: small shapes, to try this script)"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F

FORMATS = {"FP32": torch.float32, "FP16": torch.float16, "BF16": torch.bfloat16}
device = "cuda"


def random(format_, *shape, grad=False):
    return torch.randn(*shape, device=device, dtype=FORMATS[format_]).requires_grad_(grad)


def backward_of(make, *inputs):
    """Only the backward pass, on a retained graph."""
    result = make(*inputs)
    direction = torch.randn_like(result)
    return lambda: torch.autograd.grad(result, inputs, direction, retain_graph=True)


def rows_and_columns(shape):
    return [int(part) for part in shape.split("x")]


def layer_norm(format_, shape, backward):
    rows, columns = rows_and_columns(shape)
    x = random(format_, rows, columns, grad=backward)
    gamma, beta = random(format_, columns, grad=backward), random(format_, columns, grad=backward)
    make = lambda x, gamma, beta: F.layer_norm(x, (columns,), gamma, beta)
    return {"eager": backward_of(make, x, gamma, beta)} if backward else both(make, x, gamma, beta)


def bias_gelu(format_, shape, backward):
    rows, columns = rows_and_columns(shape)
    x, bias = random(format_, rows, columns, grad=backward), random(format_, columns, grad=backward)
    make = lambda x, bias: F.gelu(x + bias, approximate="tanh")
    return {"eager": backward_of(make, x, bias), "compiled": backward_of(torch.compile(make), x, bias)} if backward else both(make, x, bias)


def softmax_cross_entropy(format_, shape):
    rows, columns = rows_and_columns(shape)
    x, labels = random(format_, rows, columns, grad=True), torch.randint(0, columns, (rows,), device=device)

    def make(x):
        return torch.autograd.grad(F.cross_entropy(x.float(), labels), x)

    return {"eager": lambda: make(x), "compiled": compiled_loss(x, labels)}


def compiled_loss(x, labels):
    loss = torch.compile(lambda x: F.cross_entropy(x.float(), labels))
    return lambda: torch.autograd.grad(loss(x), x)


def softmax(format_, shape, backward):
    x = random(format_, *rows_and_columns(shape), grad=backward)
    make = lambda x: F.softmax(x, -1)
    return {"eager": backward_of(make, x)} if backward else both(make, x)


def batch_norm(format_, shape, epilogue, backward):
    rows, channels = rows_and_columns(shape)
    side = 32
    x = random(format_, max(rows // side**2, 1), channels, side, side).to(memory_format=torch.channels_last).requires_grad_(backward)
    other = torch.randn_like(x).requires_grad_(backward)
    inputs = (x, other) if epilogue == "bn_add_relu" else (x,)

    def make():
        norm = torch.nn.BatchNorm2d(channels, device=device)  # of its own: its running statistics are part of a kept graph

        def run(x, other=None):
            y = norm(x)
            y = y if other is None else y + other
            return y if epilogue == "batch_norm" else F.relu(y)

        return run

    if not backward:
        return both(make(), *inputs)
    return {"eager": backward_of(make(), *inputs), "compiled": backward_of(torch.compile(make()), *inputs)}


def attention(format_, shape, backward):
    batch, length, heads, depth = rows_and_columns(shape)
    q, k, v = (random(format_, batch, heads, length, depth, grad=backward) for _ in range(3))
    make = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return {"eager": backward_of(make, q, k, v)} if backward else {"eager": lambda: make(q, k, v)}


def optimizer(format_, shape, kind):
    count = int(shape.split("_in_")[1])
    sizes = [480_000 if i % 3 == 0 else 512 for i in range(count)]
    parameters = [torch.nn.Parameter(torch.randn(size, device=device)) for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    make = {"adam": lambda **how: torch.optim.AdamW(parameters, 1e-9, **how), "sgd_momentum": lambda **how: torch.optim.SGD(parameters, 1e-9, 0.9, **how)}[kind]
    return {"fused": make(fused=True).step, "foreach": make(foreach=True).step}


def elementwise(make, format_, shape, inputs=1):
    tensors = [random(format_, int(shape)) for _ in range(inputs)]
    return {"eager": lambda: make(*tensors)}


def both(make, *inputs):
    compiled = torch.compile(make)
    return {"eager": lambda: make(*inputs), "compiled": lambda: compiled(*inputs)}


# By name of our kernel: what to run in PyTorch.
COUNTERPARTS = {
    "add": lambda f, s: elementwise(torch.add, f, s, 2),
    "relu_forward": lambda f, s: elementwise(torch.relu, f, s),
    "layer_norm_forward": lambda f, s: layer_norm(f, s, False),
    "layer_norm_backward": lambda f, s: layer_norm(f, s, True),
    "bias_gelu_forward": lambda f, s: bias_gelu(f, s, False),
    "bias_gelu_backward": lambda f, s: bias_gelu(f, s, True),
    "softmax_cross_entropy": softmax_cross_entropy,
    "softmax_forward": lambda f, s: softmax(f, s, False),
    "softmax_backward": lambda f, s: softmax(f, s, True),
    **{f"{op}_{way}": lambda f, s, op=op, way=way: batch_norm(f, s, op, way == "backward")
       for op in ("batch_norm", "bn_relu", "bn_add_relu") for way in ("forward", "backward")},
    "attention_forward": lambda f, s: attention(f, s, False),
    "attention_backward": lambda f, s: attention(f, s, True),
    "adam": lambda f, s: optimizer(f, s, "adam"),
    "sgd_momentum": lambda f, s: optimizer(f, s, "sgd_momentum"),
}


def median_us(run):
    """With a cold second-level cache, as our own benchmark has it."""
    if device == "cuda":
        from triton.testing import do_bench

        return 1e3 * do_bench(run, return_mode="median")
    run()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def main():
    global device
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    device = options.device
    rows = []
    print(f"PyTorch {torch.__version__}\n\n| kernel | format | shape | ours, us | PyTorch, us | ratio |\n|---|---|---|---|---|---|")
    for kernel in json.loads(options.kernels.read_text())["kernels"]:
        # Only optimizers with FP32 gradients: PyTorch wants parameters and gradients of one format.
        counterpart = COUNTERPARTS.get(kernel["name"])
        if not counterpart or (kernel["name"] in ("adam", "sgd_momentum") and kernel["format"] != "FP32"):
            continue
        theirs = {}
        for way, run in counterpart(kernel["format"], kernel["shape"]).items():
            try:
                theirs[way] = median_us(run)
            except (RuntimeError, ImportError) as error:
                print(f"{kernel['name']} {kernel['format']} {way}: {error}", file=sys.stderr)
        if not theirs:
            continue
        way = min(theirs, key=theirs.get)
        ratio = theirs[way] / kernel["median_us"]
        rows.append({**kernel, "pytorch_us": theirs, "ratio": ratio})
        print(f"| {kernel['name']} | {kernel['format']} | {kernel['shape']} | {kernel['median_us']:.1f} | {theirs[way]:.1f} ({way}) | {ratio:.2f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"pytorch": torch.__version__, "kernels": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
