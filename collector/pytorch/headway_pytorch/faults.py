# SPDX-License-Identifier: MIT
"""How often the training thread has the system give it memory, by page faults, in each step, and what one takes here.
docs/design/0086-page-faults.md has the reasons for the numbers."""
import atexit
import mmap
import os
import time

from headway_pytorch import core
from headway_pytorch.core import nvtx

FEW = 16  # in a step: nobody would notice them, and what one takes is not measured
PAGES = 256

_cost_ns = None


@core.guarded("page faults")
def _tell():
    global _cost_ns
    mean = nvtx.faults_per_step()
    if mean is None:  # too few steps; or a child, whose parent tells
        return
    each = round(mean)
    if each >= FEW and _cost_ns is None:
        _cost_ns = _measure()
    core.tell("page_faults", "per_step=%d ns=%d libc=%d pid=%d" % (each, _cost_ns or 0, _freed_by_libc(), os.getpid()))


def _measure():
    """To have a page mapped and to give it back, ns: the fastest of three rounds, together less than 2 ms mostly."""
    rounds = []
    for _ in range(3):
        begin = time.perf_counter_ns()
        memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory[:: mmap.PAGESIZE] = bytes(PAGES)
        memory.close()
        rounds.append(time.perf_counter_ns() - begin)
    return min(rounds) // PAGES


def _freed_by_libc():
    """Memory is glibc's malloc's, which nobody told yet to keep what is freed."""
    try:
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            return False
    except (ValueError, OSError):
        return False
    told = [name for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_MAX_") if os.environ.get(name)]
    return not told and "malloc" not in os.environ.get("LD_PRELOAD", "") + os.environ.get("GLIBC_TUNABLES", "")


def start():
    nvtx.start_faults(_tell)
    atexit.register(_tell)
    os.register_at_fork(after_in_parent=nvtx.forked_a_child)
