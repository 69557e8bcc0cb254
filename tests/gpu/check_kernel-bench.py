#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time and memory rate of every CUDA kernel beside a copy; what is slower than its naive variant, or far from the copy, is named.
Usage: check_kernel-bench.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves kernel-bench.json in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
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
# Convolutions are bounded by arithmetic; their figures are in the file.
below = sorted((k for k in kernels if k["of_copy_pct"] < AIM_PCT and not k["name"].endswith("_naive") and not k["name"].startswith("convolution")), key=lambda k: k["of_copy_pct"])
print(f"\nbelow {AIM_PCT} % of the copy:" if below else f"\nall kernels reach {AIM_PCT} % of the copy")
for k in below:
    print(f"  {k['of_copy_pct']:5.0f} %  {k['name']} {k['format']} {k['shape']}")
print("\n".join(["slower than the naive variant:", *slower]) if slower else "no kernel is slower than its naive variant")
sys.exit(1 if slower or any(k["median_us"] <= 0 for k in kernels) else 0)
