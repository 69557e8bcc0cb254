# SPDX-License-Identifier: MIT
"""A program that has environments collects experience without gradients, too: no call tells it from an evaluation."""
import sys

from headway_pytorch import core

_LIBRARIES = ("gymnasium", "gym", "pettingzoo", "dm_env")
_told = False


def tell():
    """Once: which of these libraries the program has loaded."""
    global _told
    if not _told:
        _told = True
        loaded = [library for library in _LIBRARIES if library in sys.modules]
        if loaded:
            core.tell("environments", " ".join(loaded))
