# SPDX-License-Identifier: MIT
"""Reports libraries of environments: a program that uses one also collects experience without gradients, and no call
distinguishes that from an evaluation."""
import sys

from headway_pytorch import core

_LIBRARIES = ("gymnasium", "gym", "pettingzoo", "dm_env")
_told = False


def tell():
    """Reports once which of these libraries the program has loaded."""
    global _told
    if not _told:
        _told = True
        loaded = [library for library in _LIBRARIES if library in sys.modules]
        if loaded:
            core.tell("environments", " ".join(loaded))
