# SPDX-License-Identifier: MIT
"""The number of page faults of the training thread per step (the system gives it memory), and the time that one takes on
this machine. docs/design/0086-page-faults.md has the reasons for the numbers."""
import atexit
import mmap
import os
import time

from headway_pytorch import core
from headway_pytorch.core import nvtx

FEW = 16  # per step: fewer faults have no visible effect, so their cost is not measured
PAGES = 256

_cost_ns = None


@core.guarded("page faults")
def _tell():
    global _cost_ns
    mean = nvtx.faults_per_step()
    if mean is None:  # too few steps, or a forked child, whose parent reports
        return
    each = round(mean)
    if each >= FEW and _cost_ns is None:
        _cost_ns = _measure()
    core.tell("page_faults", "per_step=%d ns=%d libc=%d pid=%d" % (each, _cost_ns or 0, _freed_by_libc(), os.getpid()))


def _measure():
    """The time to map a page and to return it, in ns: the fastest of three rounds, which together mostly take under 2 ms."""
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
    """Whether memory comes from glibc's malloc, and the program has not set it to keep freed memory."""
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
