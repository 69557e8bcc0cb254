# SPDX-License-Identifier: MIT
"""Trainers with their own loop (Keras): while one runs, it reports the steps itself, and no other hook does."""
from headway_pytorch import steps as _  # noqa: F401  (must be started first)
from headway_pytorch.core import nvtx

works_no_longer = nvtx.works_no_longer  # the work on the batch is done; callbacks follow
opens = nvtx.opens  # (trains): a step begins, or else a batch of an evaluation
closes = nvtx.closes  # (done): it ends; False: it was neither (e.g. after the last batch) and is discarded


def own(whole=True):
    """A trainer begins: it runs a whole loop, or one batch in a loop of the program. Returns the token that ends it, also
    after an exception."""
    return nvtx.own(whole)


def disown(token):
    nvtx.disown(token, True)


def lend_back(token):
    """Like disown(), but inside a step of the program, which stays open."""
    nvtx.disown(token, False)
