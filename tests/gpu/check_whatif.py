#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions on a GPU: a program is recorded without a fix, its step with it predicted from that recording alone, and recorded with the fix.
Usage: check_whatif.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Prints `name: value unit`; fails when a structural
prediction is off by more than 10 %, a modelled one by more than 15 %, or what no recorded cause explains is over 3 % of the step."""
import json
import pathlib
import statistics
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
STEPS = "300"
RUNS = 3
# name: (words of both sides, without the fix, with it, fix)
CASES = {
    "syncs": ([], ["sync"], [], "remove-syncs"),
    "syncs_small_kernels": (["small"], ["sync"], [], "remove-syncs"),
    "pageable_copies": ([], ["pageable"], [], "pinned-copies"),
    "launches_into_a_graph": (["small"], [], ["one-graph"], "cuda-graph"),
}
LIMIT = {"structural": 0.10, "modelled": 0.15, "ceiling": 0.15}


def run(command):
    child = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    if child.returncode == 77:
        print("no usable CUDA device: " + child.stderr.strip())
        sys.exit(77)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {child.returncode}: {child.stderr.strip()}")
    return child.stdout


def whatif(name, words, fix):
    trace = RESULTS / f"whatif_{name}.sqlite"
    run([PROGRAMS / "headway", "record", "--quiet", "--force", "-o", trace, "--", PROGRAMS / "cuda_program", "train", STEPS, *words])
    answer = json.loads(run([PROGRAMS / "headway", "whatif", trace, "--fix", fix, "--json"]))
    trace.unlink()
    return answer


failed = []
for name, (common, bad, good, fix) in CASES.items():
    rounds = []
    for _ in range(RUNS):
        before = whatif(name, [*common, *bad], fix)
        one = before["fixes"][0]
        if not one["applies"]:
            sys.exit(f"{name}: {fix} does not apply: {one['text']}")
        after = whatif(name, [*common, *good], fix)["baseline"]["median_step_ns"]
        rounds.append((before["baseline"]["median_step_ns"], after, one["median_step_ns"], before["baseline"]["residual"]))
    without, measured, predicted, residual = (statistics.median(column) for column in zip(*rounds))
    error = predicted / measured - 1
    print(f"{name}_without: {without / 1e3:.1f} us")
    print(f"{name}_with: {measured / 1e3:.1f} us")
    print(f"{name}_predicted: {predicted / 1e3:.1f} us")
    print(f"{name}_error: {100 * error:+.2f} %")
    print(f"{name}_residual: {100 * residual:.2f} %")
    if abs(error) > LIMIT[one["kind"]] or residual > 0.03:
        failed.append(name)
if failed:
    sys.exit("off by more than the limit: " + ", ".join(failed))
