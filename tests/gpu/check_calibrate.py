#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `headway calibrate` gives on a GPU: nothing missing but collectives, figures within wide bounds, those of the GPU alone the same twice within 10 %.
Usage: check_calibrate.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves calibration.json in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
# Lowest and highest of anything from a T4 to a B200; a wrong unit or a wrong factor is outside.
BOUNDS = {
    "launch": (1e3, 5e4), "kernel_gap": (1e2, 1e4), "sync": (5e2, 1e5), "kernel_period": (5e2, 2e4), "round_trip": (3e3, 2e5), "idle_sync": (1e2, 5e4),
    "to_device_pinned": (3e9, 2e12), "from_device_pinned": (3e9, 2e12), "to_device_pageable": (5e8, 2e12), "from_device_pageable": (5e8, 2e12),
    "device_triad": (1e11, 1e13), "gemm_fp32": (2e12, 2e14), "gemm_tf32": (2e12, 2e15), "gemm_fp16": (1e13, 5e15), "gemm_bf16": (2e12, 5e15),
}
STABLE = ("kernel_gap", "to_device_pinned", "from_device_pinned", "device_triad", "gemm_fp32", "gemm_tf32", "gemm_bf16")


def calibrate(name, environment):
    file = RESULTS / name
    child = subprocess.run([PROGRAMS / "headway", "calibrate", "--device", "cuda", "-o", file], capture_output=True, text=True, timeout=120, env=environment)
    print(child.stdout + child.stderr)
    if child.returncode == 2 and "--device cuda" in child.stderr:
        sys.exit(77)
    if child.returncode != 0:
        sys.exit(f"exit status {child.returncode}")
    return json.loads(file.read_text())["devices"][0]


# cuBLASLt lies among the Python packages where there is no toolkit.
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}
first, second = calibrate("calibration.json", environment), calibrate("calibration-again.json", environment)
wrong = [f"{name}: absent: {why}" for name, why in first["absent"].items() if name != "collective"]
for name, (low, high) in BOUNDS.items():
    if name not in first["figures"]:
        continue
    value = first["figures"][name]["p50"]
    if not low <= value <= high:
        wrong.append(f"{name}: {value:g} is not from {low:g} to {high:g}")
    again = second["figures"].get(name, {}).get("p50", 0)
    print(f"calibrate_{name}: {value:.6g} {first['figures'][name]['unit']} (again {again / value - 1:+.1%})")
    if name in STABLE and abs(again / value - 1) > 0.1:
        wrong.append(f"{name}: {value:g}, and {again:g} the second time")
print("\n".join(wrong) if wrong else "all figures are there, plausible, and repeat")
sys.exit(1 if wrong else 0)
