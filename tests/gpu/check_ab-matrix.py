#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each switch gains on the GPU, both values in turns (ab_matrix.py): every good value must not be slower.
Usage: check_ab-matrix.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves ab-matrix.json and ab-matrix.md in RESULTS."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

# cuBLASLt and cuDNN lie among the Python packages where there is no toolkit.
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}
probe = subprocess.run([PROGRAMS / "headway-train", "--device", "cuda", "--model", "transformer", "--data", "generated", "--steps", "1", "--eval", "off"],
                       capture_output=True, text=True, timeout=120, env=environment)
if probe.returncode == 3 and "device cuda" in probe.stderr:
    print(probe.stderr.strip())
    sys.exit(77)
if probe.returncode != 0:
    print(f"FAIL headway-train ended with status {probe.returncode}: {probe.stderr.strip()[-600:]}")
    sys.exit(1)
file = RESULTS / "ab-matrix.json"
child = subprocess.run([sys.executable, PROGRAMS / "ab_matrix.py", PROGRAMS, "--device", "cuda", "--blocks", "4", "--steps", "30", "--json", file,
                        "--markdown", RESULTS / "ab-matrix.md"], env=environment, timeout=570)
if child.returncode != 0:
    sys.exit(child.returncode)
rows = json.loads(file.read_text())["cases"]
slower = [row["name"] for row in rows if row["high"] < 1]
for row in rows:
    print(f"{'FAIL' if row['name'] in slower else 'ok  '} {row['name']}: {row['gain']:.2f} x ({row['low']:.2f} to {row['high']:.2f})")
sys.exit(1 if slower else 0)
