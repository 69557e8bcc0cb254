#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a launch costs the program: alone, and while Headway records; alternating, medians of RUNS.
Usage: check_overhead.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Prints `name: value unit`."""
import pathlib
import re
import statistics
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
RUNS = 7
LAUNCHES = "100000"

program = [PROGRAMS / "cuda_program", "launches", LAUNCHES]
record = [PROGRAMS / "headway", "record", "--quiet", "--force", "-o", RESULTS / "launches.sqlite"]
variants = {"alone": program, "nvtx_only": [*record, "--cuda", "off", "--", *program], "cuda": [*record, "--", *program]}
times = {name: [] for name in variants}
for _ in range(RUNS):
    for name, command in variants.items():
        child = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if child.returncode == 77:
            print("no usable CUDA device: " + child.stderr.strip())
            sys.exit(77)
        times[name].append(float(re.search(r"launch_ns: (\d+) mean", child.stdout)[1]))
for name, values in times.items():
    print(f"launch_{name}: {statistics.median(values):.0f} ns (from {min(values):.0f} to {max(values):.0f})")
print(f"launch_cuda_over_alone: {statistics.median(times['cuda']) / statistics.median(times['alone']):.2f} ratio")
