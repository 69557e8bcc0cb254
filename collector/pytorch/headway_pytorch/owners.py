# SPDX-License-Identifier: MIT
"""Trainers with a loop of their own (Keras): while one runs, it says itself what is a step, and nothing else is asked."""
from headway_pytorch import steps as _  # noqa: F401  (nothing of it works before it has started)
from headway_pytorch.core import nvtx

works_no_longer = nvtx.works_no_longer  # the batch is done; what follows are callbacks
opens = nvtx.opens  # (trains): what comes next is a step, or a batch of an evaluation
closes = nvtx.closes  # (done): it was. Else what is open turned out to be nothing, after the last batch say


def own(whole=True):
    """A trainer begins, of a whole loop or of one batch in a loop of the program. Gives back what it takes to end it,
    also where it fails in its middle."""
    return nvtx.own(whole)


def disown(token):
    nvtx.disown(token, True)


def lend_back(token):
    """As disown(), in the middle of a step of the program's."""
    nvtx.disown(token, False)
