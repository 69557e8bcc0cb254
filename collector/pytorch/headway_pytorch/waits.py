# SPDX-License-Identifier: MIT
"""Waits for input. When a framework computes asynchronously (JAX), a wait that ends before the computation does costs
nothing; its range then says that it is part of the computation.
"""
from headway_pytorch.core import FORWARD, INPUT, INPUT_WAIT, PHASE, name, nvtx

computes = None  # function: whether the latest computation is still running


def ask(function):
    """Sets `computes`. From here on PyTorch's waits, which are native otherwise, also end with end()."""
    global computes
    computes = function
    nvtx.end_waits_by(end)


def begin(label, batch=-1):
    return nvtx.push(name(label), INPUT_WAIT, INPUT, batch)


def end(depth):
    """Ends the range that begin() opened."""
    if computes is not None and computes():
        nvtx.pop_to(depth + 1)
        if nvtx.open_ranges() > depth:
            nvtx.pop_as(PHASE, FORWARD)
    else:
        nvtx.pop_to(depth)
