#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The trainer on the GPU: its device's tests, loss curves of the transformer beside the host device's, sequences per second, a recording.
Usage: check_trainer.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves trainer.json, and trainer.sqlite where it is small, in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
TINY = ["--model", "transformer", "--data", "generated", "--layers", "2", "--features", "64", "--heads", "4", "--sequence", "64",
        "--batch", "16", "--eval", "off"]
# GPT-2's smallest form, with the vocabulary of bytes.
LARGE = ["--model", "transformer", "--data", "generated", "--layers", "12", "--features", "768", "--heads", "12", "--sequence", "1024",
         "--batch", "16", "--eval", "off"]
PARTS = ["--fused-ln", "off", "--fused-bias-act", "off"]
TOLERANCE = {"fp32": 0.01, "tf32": 0.02, "amp-o1": 0.03, "amp-o2": 0.03, "bf16": 0.05}  # of the loss, over 60 steps
failed = False
without = set()  # what the device says that it does without

# cuBLASLt lies among the Python packages where there is no toolkit.
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}


def check(name, holds, detail=""):
    global failed
    failed |= not holds
    print(f"{'ok  ' if holds else 'FAIL'} {name}{': ' if detail else ''}{detail}", flush=True)


def train(name, *arguments):
    file = RESULTS / "trainer-run.json"
    command = [PROGRAMS / "headway-train", *arguments, "--metrics", file]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if child.returncode == 3 and "device cuda" in child.stderr:
        print(child.stderr.strip())
        sys.exit(77)
    if child.returncode != 0:
        check(name, False, (child.stdout + child.stderr).strip()[-600:])
        return None
    without.update(line for line in child.stdout.splitlines() if line.startswith("elementwise ops are interpreted"))
    return json.loads(file.read_text())


child = subprocess.run([PROGRAMS / "headway_test_trainer_cuda"], env=environment, timeout=200)
if child.returncode == 77:
    sys.exit(77)
check("tests of the device", child.returncode == 0)

results = {"curves": {}, "rates": {}}
for precision, tolerance in TOLERANCE.items():
    curve = {}
    for device in ("host", "cuda"):
        run = train(f"{precision} on {device}", *TINY, "--steps", "60", "--precision", precision, "--device", device)
        curve[device] = [step["loss"] for step in run["steps"]] if run else []
    results["curves"][precision] = curve
    if curve["host"] and curve["cuda"]:
        worst = max(abs(a - b) / b for a, b in zip(curve["cuda"], curve["host"]))
        check(f"losses in {precision} as on the host", worst < tolerance,
              f"largest difference {worst:.2%} of 60 steps, last {curve['cuda'][-1]:.4f} and {curve['host'][-1]:.4f}")

curve = {}
for allocator in ("caching", "raw"):
    run = train(f"allocator {allocator}", *TINY, "--steps", "60", "--device", "cuda", "--allocator", allocator)
    curve[allocator] = [step["loss"] for step in run["steps"]] if run else []
    if run:
        times = sorted(step["duration_s"] for step in run["steps"][5:])
        print(f"     small transformer, allocator {allocator}: {times[len(times) // 2] * 1e3:.3f} ms per step", flush=True)
if curve["caching"] and curve["raw"]:
    worst = max(abs(a - b) / b for a, b in zip(curve["raw"], curve["caching"]))
    check("losses under the raw allocator as under the caching one", worst < 1e-3, f"largest difference {worst:.2%} of 60 steps")

for name, arguments in {
        "fp32": ["--precision", "fp32"], "tf32": ["--precision", "tf32"], "amp-o1": ["--precision", "amp-o1"],
        "amp-o2": ["--precision", "amp-o2"], "bf16": ["--precision", "bf16"],
        "bf16, as one CUDA graph a phase": ["--precision", "bf16", "--cuda-graph", "on"],
        "bf16, norms and biases joined and compiled": ["--precision", "bf16", *PARTS],
        "bf16, norms and biases joined and interpreted": ["--precision", "bf16", *PARTS, "--graph-compiler", "interpreted"],
        "bf16, norms and biases in loops of their own": ["--precision", "bf16", *PARTS, "--graph-compiler", "off"],
        "bf16, nothing fused": ["--precision", "bf16", "--fused-ln", "off", "--fused-attention", "off", "--fused-bias-act", "off",
                                "--fused-loss", "off", "--graph-compiler", "off", "--fused-optimizer", "off"]}.items():
    run = train(name, *LARGE, "--steps", "20", "--device", "cuda", *arguments)
    if not run:
        continue
    times = sorted(step["duration_s"] for step in run["steps"][5:])
    rate = 16 / times[len(times) // 2]
    results["rates"][name] = rate
    print(f"     GPT-2 small, batch 16, {name}: {rate:.1f} sequences/s, {rate * 1024:.0f} tokens/s", flush=True)
check("elementwise ops are compiled by NVRTC", not without, "; ".join(without))
# The other models, by cuDNN and the kernels of LSTM and detectors: not compared with anything yet.
for name, arguments in {
        "ResNet-50 on 28 pixels": ["--model", "resnet", "--depth", "50", "--data", "generated", "--source", "memory", "--batch", "256"],
        "ResNet-50 on 28 pixels, batch norm in parts": ["--model", "resnet", "--depth", "50", "--data", "generated", "--source", "memory",
                                                        "--batch", "256", "--fused-bn", "off"],
        "translator, persistent layers": ["--model", "gnmt", "--data", "generated", "--features", "1024", "--batch", "64"],
        "translator, step by step": ["--model", "gnmt", "--data", "generated", "--features", "1024", "--batch", "64",
                                     "--rnn", "standard"]}.items():
    run = train(name, *arguments, "--eval", "off", "--steps", "20", "--device", "cuda", "--precision", "amp-o2")
    if not run:
        continue
    times = sorted(step["duration_s"] for step in run["steps"][5:])
    results["rates"][name] = 1 / times[len(times) // 2]
    print(f"     {name}, amp-o2: {results['rates'][name]:.1f} steps/s", flush=True)
# Where a step's time goes by Headway's own recording: gaps that host calls make would show there.
trace = RESULTS / "trainer.sqlite"
cupti = [str(p.parent) for p in sorted(pathlib.Path("/").glob("usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1*"))]
recorded = {**environment, "LD_LIBRARY_PATH": ":".join([*cupti, environment["LD_LIBRARY_PATH"]])}


def record(name, *arguments):
    command = [PROGRAMS / "headway", "record", "--force", "-o", trace, "--", PROGRAMS / "headway-train", "--device", "cuda", *arguments]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120, env=recorded)
    check(name, child.returncode == 0, child.stderr.strip()[-300:] if child.returncode else "")
    return child.returncode == 0


if record("a recorded run under the raw allocator", *TINY, "--steps", "30", "--allocator", "raw"):
    report = json.loads(subprocess.run([PROGRAMS / "headway", "report", trace, "--json"], capture_output=True, text=True, timeout=60).stdout)
    found = [finding["rule"] for finding in report["findings"] if finding["status"] == "found"]
    check("its first finding is the allocator", found[:1] == ["allocator"], f"found {found}")
if record("a recorded run", *LARGE, "--steps", "20", "--precision", "bf16"):
    print(subprocess.run([PROGRAMS / "headway", "report", trace], capture_output=True, text=True, timeout=60).stdout, flush=True)
if trace.exists() and trace.stat().st_size > 15 << 20:
    trace.unlink()  # results stay small
(RESULTS / "trainer.json").write_text(json.dumps(results))
sys.exit(1 if failed else 0)
