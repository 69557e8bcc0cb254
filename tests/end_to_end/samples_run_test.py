#!/usr/bin/env python3
"""Runs one folder of samples/ as its README says and checks the finding it promises: samples_run_test.py BIN_FOLDER SAMPLES CASE [NVTX_INCLUDE].
Exit status 0: passed, or skipped with the reason."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN, SAMPLES = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CASE, REST = sys.argv[3], sys.argv[4:]
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


def run(*command, cwd, **variables):
    result = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, env={**ENVIRONMENT, **variables}, timeout=250)
    assert result.returncode == 0, f"{command}: exit {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def report(trace, folder):
    return json.loads(run("headway", "report", trace, "--json", cwd=folder))


def found(result, rule):
    """The finding of that rule; fails when there is none."""
    found = {f["rule"]: f for f in result["findings"] if f["status"] == "found"}
    assert rule in found, f"{rule} is not among {sorted(found)}"
    return found[rule]


def skip(reason):
    print(f"[skipped] {reason}")
    sys.exit(0)


def python_with(module):
    for python in (os.environ.get("HEADWAY_TEST_PYTHON"), "/usr/bin/python3", sys.executable):
        if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return skip(f"no Python with {module}; HEADWAY_TEST_PYTHON names one")


def cpp(folder):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or skip("no C++ compiler")
    run(*compiler.split(), "-std=c++20", "-O2", "-pthread", f"-I{REST[0]}", SAMPLES / "cpp/train.cc", "-o", "train", "-ldl", cwd=folder)
    run("headway", "record", "--quiet", "--", "./train", cwd=folder)
    result = report("run.sqlite", folder)
    assert result["steps"]["count"] == 30 and result["steps"]["source"] == "declared", result["steps"]
    assert found(result, "input-bound")["sub_cause"] == "read"


def pytorch(folder):
    python = python_with("torch")
    for workers in (0, 4):
        run("headway", "record", "--quiet", "-o", f"{workers}.sqlite", "--", python, SAMPLES / "pytorch/train.py", workers, cwd=folder)
    none, four = report("0.sqlite", folder), report("4.sqlite", folder)
    assert none["steps"]["count"] == 40, none["steps"]
    assert found(none, "input-bound")["sub_cause"] == "own-thread"
    assert four["steps"]["count"] == 40, four["steps"]
    # How much workers gain depends on the machine; that they make the batches does not.
    assert not [f for f in four["findings"] if f["rule"] == "input-bound" and f["sub_cause"] == "own-thread"], four["findings"][:3]


def jax(folder):
    python = python_with("jax")
    run(python, SAMPLES / "jax/train.py", "profile", cwd=folder, JAX_PLATFORMS="cpu")
    result = report("profile", folder)
    assert result["steps"]["count"] == 30, result["steps"]
    found(result, "host-bound")


def ranks(folder):
    run(SAMPLES / "ranks/job.sh", "job", cwd=folder)
    assert found(report("job", folder), "straggler")["claim"].startswith("Rank 2 ")


def traces(folder):
    stored = SAMPLES / "traces/launch_bound.json.gz"
    before = found(report(stored, folder), "launch-bound")
    run(SAMPLES / "traces/make.sh", ".", cwd=folder)
    again = found(report("launch_bound.json.gz", folder), "launch-bound")
    key = "recoverable_ns_per_step"
    assert abs(again[key] / before[key] - 1) < 0.2, "make.sh no longer makes the stored trace: run it in samples/traces"


with tempfile.TemporaryDirectory(prefix="headway samples ") as name:
    {"cpp": cpp, "pytorch": pytorch, "jax": jax, "ranks": ranks, "traces": traces}[CASE](pathlib.Path(name))
print(f"{CASE}: passed")
