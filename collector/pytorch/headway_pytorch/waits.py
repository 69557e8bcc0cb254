# SPDX-License-Identifier: MIT
"""Waits for input. Where a framework computes while the program goes on (JAX), a wait that ends before the computation
does holds nothing up: it is said to be part of the computation then.
"""
from headway_pytorch.core import FORWARD, INPUT, INPUT_WAIT, PHASE, name, nvtx

computes = None  # tells whether what was asked for last is still being computed


def ask(function):
    """Whether it computes, from here on: also at the ends of PyTorch's waits, which are native else."""
    global computes
    computes = function
    nvtx.end_waits_by(end)


def begin(label, batch=-1):
    return nvtx.push(name(label), INPUT_WAIT, INPUT, batch)


def end(depth):
    """Of the range that begin() opened."""
    if computes is not None and computes():
        nvtx.pop_to(depth + 1)
        if nvtx.open_ranges() > depth:
            nvtx.pop_as(PHASE, FORWARD)
    else:
        nvtx.pop_to(depth)
