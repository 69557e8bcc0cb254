#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headway-train beside PyTorch on the GPU: ResNet-50 and GPT-2 small, the same batch and precision, eager and through torch.compile; and the kernels that
stage kernel-bench has measured, beside PyTorch's.
Usage: check_pytorch.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU, or no PyTorch. Leaves pytorch-PRECISION.json and pytorch-kernels.json in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

try:
    import torch
except ImportError:
    print("no PyTorch under this Python")
    sys.exit(77)
if not torch.cuda.is_available():
    print("PyTorch sees no GPU")
    sys.exit(77)
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}
slower, failed = [], False

# Many small kernels: the host decides the step, so recording lengthens it.
LAUNCHING = """
import time, torch
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(200)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
times = []
for step in range(300):
    optimizer.zero_grad()
    model(torch.randn(8, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    torch.cuda.synchronize()
    times.append(time.perf_counter())
steps = sorted(b - a for a, b in zip(times[150:], times[151:]))
print(steps[len(steps) // 2])
"""


def own_step(before=()):
    """By the program's clock, s."""
    child = subprocess.run([*before, sys.executable, "-c", LAUNCHING], env=environment, capture_output=True, text=True, timeout=100)
    if child.returncode != 0:
        raise SystemExit(f"the launching program failed: {child.stderr[-500:]}")
    return float(child.stdout)


def check_measured_cost():
    """--measure-cost finds the step that the program takes without a recorder; and what was recorded around the pauses is whole."""
    trace = RESULTS / "measured-cost.sqlite"
    alone = [own_step(), own_step()]
    recorded = own_step([PROGRAMS / "headway", "record", "--force", "--quiet", "--measure-cost", "-o", trace, "--"])
    result = json.loads(subprocess.run([PROGRAMS / "headway", "whatif", "--json", trace], capture_output=True, text=True, check=True).stdout)["baseline"]
    print(f"a step alone {1e3 * alone[0]:.2f} and {1e3 * alone[1]:.2f} ms, recorded {1e3 * recorded:.2f}; --measure-cost: {result['step_ns'] / 1e6:.2f} ms without "
          f"{result['recording_cost_ns'] / 1e6:.2f} ms of recording; replay off by {result['residual']:.1%}")
    return abs(result["step_ns"] / 1e9 / (sum(alone) / 2) - 1) < 0.1 and result["residual"] < 0.05


if not check_measured_cost():
    failed = True
    print("--measure-cost is off by 10 % or more, or the replay by 5 %")
for precision in ("bf16", "amp", "tf32", "fp32"):
    for compiled in ([], ["--compile"]) if precision == "bf16" else ([],):
        file = RESULTS / f"pytorch-{precision}{'-compiled' if compiled else ''}.json"
        child = subprocess.run([sys.executable, PROGRAMS / "trainer_vs_pytorch.py", PROGRAMS, "--device", "cuda", "--precision", precision, "--rounds", "3",
                                "--steps", "20", "--threads", "4", "--json", file, *compiled], env=environment, timeout=110)
        if child.returncode != 0:
            failed = True
            continue
        slower += [f"{case}, {precision}{', torch.compile' if compiled else ''}: {row['ratio']:.2f}"
                   for case, row in json.loads(file.read_text()).items() if row["ratio"] < 1]
measured = RESULTS / "kernel-bench.json"
if measured.exists():
    child = subprocess.run([sys.executable, PROGRAMS / "pytorch_kernels.py", measured, "--json", RESULTS / "pytorch-kernels.json"], env=environment, timeout=200)
    failed |= child.returncode != 0
    if child.returncode == 0:
        slower += [f"{row['name']} {row['format']} {row['shape']}: {row['ratio']:.2f}" for row in json.loads((RESULTS / "pytorch-kernels.json").read_text())["kernels"]
                   if row["ratio"] < 0.95]
else:
    print("kernels beside PyTorch's are left out: stage kernel-bench leaves kernel-bench.json, run it before")
print("\n".join(["slower than PyTorch (the aim is no slower):", *slower]) if slower else "nothing is slower than PyTorch")
sys.exit(1 if slower or failed else 0)
