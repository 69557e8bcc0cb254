#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time and memory rate of every CUDA kernel beside a copy; what is slower than its naive variant (attention: than on the general
units), or far from the copy, is named; attention's rate beside that of a product.
Usage: check_kernel-bench.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves kernel-bench.json in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
ATTENTION_AIM_PCT = 60  # of the measured BF16 product (the project's aim for an H200)
AIM_PCT = 90  # of the copy, for kernels that memory bounds (the project's aim for an H200)

file = RESULTS / "kernel-bench.json"
# cuDNN and what it loads lie among the Python packages where there is no toolkit.
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}
child = subprocess.run([PROGRAMS / "headway_bench_kernels_cuda", file], timeout=280, env=environment)
if child.returncode != 0:
    sys.exit(child.returncode)
kernels = json.loads(file.read_text())["kernels"]
by_key = {(k["name"], k["format"], k["shape"]): k for k in kernels}
slower = []
for (name, form, shape), kernel in by_key.items():
    best = by_key.get((name.removesuffix("_naive"), form, shape))
    if name.endswith("_naive") and best and best["median_us"] > 1.05 * kernel["median_us"]:
        slower.append(f"{best['name']} {form} {shape}: {best['median_us']:.1f} us, its naive variant {kernel['median_us']:.1f} us")
# Convolutions and what has flops are bounded by arithmetic; their figures are in the file.
below = sorted((k for k in kernels if k["of_copy_pct"] < AIM_PCT and "flops" not in k and not k["name"].endswith("_naive") and not k["name"].startswith("convolution")), key=lambda k: k["of_copy_pct"])
print(f"\nbelow {AIM_PCT} % of the copy:" if below else f"\nall kernels reach {AIM_PCT} % of the copy")
for k in below:
    print(f"  {k['of_copy_pct']:5.0f} %  {k['name']} {k['format']} {k['shape']}")
products = by_key.get(("product", "BF16", "8192x8192x8192"))
print(f"\nattention (aim on tensor cores: {ATTENTION_AIM_PCT} % of the BF16 product):")
for k in kernels:
    if k["name"].startswith("attention_"):
        share = f"{k['of_product_pct']:.0f} % of the product" if products else "no product was measured"
        print(f"  {k['tflop_per_s']:7.1f} TFLOP/s, {share}  {k['name']} {k['format']} {k['shape']}")
        general = by_key.get((k["name"].replace("_tensor_cores", "_general"), k["format"], k["shape"]))
        if general is not k and k["median_us"] > general["median_us"]:
            slower.append(f"{k['name']} {k['format']} {k['shape']}: {k['median_us']:.1f} us, on the general units {general['median_us']:.1f} us")
print("\n".join(["slower than the variant that it should beat:", *slower]) if slower else "no kernel is slower than the variant that it should beat")
sys.exit(1 if slower or any(k["median_us"] <= 0 for k in kernels) else 0)
