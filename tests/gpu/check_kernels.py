#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every CUDA kernel against double precision, at all shapes, formats and variants of tests/kernels/cuda/.
Usage: check_kernels.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves kernels.xml (JUnit) in RESULTS."""
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

program = PROGRAMS / "headway_test_kernels_cuda"
child = subprocess.run([program, "--duration=true"], timeout=250)
if child.returncode == 0:
    subprocess.run([program, "--reporters=junit", f"--out={RESULTS / 'kernels.xml'}"], stdout=subprocess.DEVNULL, timeout=250, check=True)
sys.exit(child.returncode)
