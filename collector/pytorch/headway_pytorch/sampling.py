# SPDX-License-Identifier: MIT
"""Samples the stack of the main thread where no hook says what it does, from its first step on (native/sampler.h)."""
import atexit
import os
import signal
import sys

from headway_pytorch import core
from headway_pytorch.core import nvtx

started = False  # in this process; reset in a forked child


def _folders():
    """The prefixes to remove from file names, so that they start at the folder where Python found them:
    "torch/nn/functional.py"."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = {os.path.abspath(folder) for folder in (own, os.getcwd(), *sys.path) if isinstance(folder, str)}
    return tuple(folder.rstrip("/") + "/" for folder in sorted(folders, key=len, reverse=True))


def start():
    global started
    if started:
        return
    started = True
    if os.environ.get("HEADWAY_PYTORCH_SAMPLES") == "off":
        return
    core.guarded("samples")(_start)()


def _forget():
    global started
    started = False


os.register_at_fork(after_in_child=_forget)


def _may_signal():
    """Whether signals are needed (native/sampler.h) and the program would not notice them."""
    if not (3, 9) <= sys.version_info < (3, 13) or signal.getsignal(signal.SIGURG) != signal.SIG_DFL:
        return False
    wakes = signal.set_wakeup_fd(-1)  # set by an event loop, which would see each signal
    if wakes == -1:
        return True
    signal.set_wakeup_fd(wakes)
    return False


def _start():
    signals = _may_signal()
    if signals:
        signal.signal(signal.SIGURG, nvtx.signalled)
        signal.siginterrupt(signal.SIGURG, False)
    nvtx.sample(_folders(), signals, core.failed("samples"))
    atexit.register(nvtx.stop_sampling)
