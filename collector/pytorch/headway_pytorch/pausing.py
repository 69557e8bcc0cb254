# SPDX-License-Identifier: MIT
"""Leaves the device work of a few steps unrecorded when the recorder asks for it (--measure-cost): compared with the
steps around them, they show what recording costs. docs/design/0084-unrecorded-steps.md has the reasons for the numbers."""
import threading

from headway_pytorch import core
from headway_pytorch.core import nvtx

FIRST, EVERY, LENGTH, COUNT = 24, 32, 8, 4
_NEVER = 2**62

_spans = []
_paused = False


def step_begins(number):
    """The step with this number begins, on any thread; the steps before it have ended. -> the next number for which to call
    this function; None: the main thread has not reached it yet."""
    global _paused
    if threading.current_thread() is not threading.main_thread():
        return None
    if _paused:
        if number <= _spans[-1][1]:
            return _spans[-1][1] + 1
        nvtx.pause_cuda(False)
        _paused = False
    elif number == _begin_of_next() and nvtx.pause_cuda(True):
        _paused = True
        _spans.append((number, number + LENGTH - 1))
        core.tell("unrecorded_steps", " ".join("%d-%d" % span for span in _spans))
        return number + LENGTH
    elif number == _begin_of_next():  # nothing is recorded, or the recorder asks for no pauses
        return _NEVER
    return _begin_of_next()


def _begin_of_next():
    return FIRST + EVERY * len(_spans) if len(_spans) < COUNT else _NEVER
