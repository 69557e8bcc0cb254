# SPDX-License-Identifier: MIT
"""How often the training thread has the system give it memory, by page faults, in each step, and what one takes here.
docs/design/0086-page-faults.md has the reasons for the numbers."""
import atexit
import mmap
import os
import time
from collections import deque

from headway_pytorch import core

try:
    import resource
except ImportError:  # an interpreter without it
    resource = None

WARM_UP, FIRST, LATER = 8, 32, 4  # steps that do not count; told after 32 steps, after four times as many, and so on
FEW = 16  # in a step: nobody would notice them, and what one takes is not measured
AFTER_FORK = 2  # steps in which what is written to is copied for once
PAGES = 256

_steps = deque(maxlen=256)
_ended = 0
_skipped = 0
_next = FIRST
_pid = None
_cost_ns = None


def now():
    """Of the calling thread since it was started: those that need no disk."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt if resource else 0


def step_ended(since):
    """Another step is over, at whose begin now() was `since`."""
    global _ended, _next, _pid, _skipped
    if _pid is None:
        _pid = os.getpid()
        atexit.register(_tell)
        os.register_at_fork(after_in_parent=_forked)
    if _pid != os.getpid():
        return
    _ended += 1
    if _skipped:
        _skipped -= 1
    elif _ended > WARM_UP:
        _steps.append(now() - since)
    if _ended == _next:
        _next *= LATER
        _tell()


def _forked():
    global _skipped
    _skipped = AFTER_FORK


@core.guarded("page faults")
def _tell():
    global _cost_ns
    if _pid != os.getpid() or not _steps:
        return
    each = round(sum(_steps) / len(_steps))
    if each >= FEW and _cost_ns is None:
        _cost_ns = _measure()
    core.tell("page_faults", "per_step=%d ns=%d libc=%d pid=%d" % (each, _cost_ns or 0, _freed_by_libc(), _pid))


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
