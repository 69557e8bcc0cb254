#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every CUDA kernel against double precision, at all shapes, formats and variants of tests/kernels/cuda/.
Convolutions by cuDNN too, where it is installed.
Usage: check_kernels.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU. Leaves kernels.xml (JUnit) in RESULTS."""
import os
import pathlib
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

program = PROGRAMS / "headway_test_kernels_cuda"
# cuDNN and what it loads lie among the Python packages where there is no toolkit.
folders = [str(path) for base in sys.path if base for path in pathlib.Path(base).glob("nvidia/*/lib")]
environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*folders, os.environ.get("LD_LIBRARY_PATH", "")])}
child = subprocess.run([program, "--duration=true"], timeout=250, env=environment)
if child.returncode == 0:
    subprocess.run([program, "--reporters=junit", f"--out={RESULTS / 'kernels.xml'}"], stdout=subprocess.DEVNULL, timeout=250, check=True,
                   env=environment)
sys.exit(child.returncode)
