# SPDX-License-Identifier: MIT
"""Trainers with a loop of their own (Keras): while one runs, it says itself what is a step; nothing else is asked."""
from headway_pytorch import steps
from headway_pytorch.core import nvtx


def own(whole=True):
    """A trainer begins, of a whole loop or of one batch in a loop of the program. Gives back what it takes to end it,
    also where it fails in its middle."""
    if not steps._thread.owners and whole:
        steps._close()
        steps._end_between()
    steps._thread.owners += 1
    return steps._thread.owners


def disown(token):
    if token == 1:
        steps._close()
    steps._thread.owners = token - 1


def lend_back(token):
    """As disown(), in the middle of a step of the program's."""
    steps._thread.owners = token - 1


def works_no_longer():
    """The batch is done; what follows are callbacks."""
    if steps._thread.owners and steps._thread.cycle is not None:
        nvtx.pop_to(steps._thread.cycle.depth + 1)


def opens(trains):
    """What comes next is a step, or a batch of an evaluation."""
    steps._close()
    steps._open(trains)


def closes(done):
    """`done`: it was. Else what is open turned out to be nothing, after the last batch say."""
    cycle = steps._thread.cycle
    if cycle is None:
        return
    if not done:
        cycle.trains = True  # no evaluation either
        cycle.calls = steps._calls()
    elif cycle.trains:
        cycle.updates += 1
    steps._close()
