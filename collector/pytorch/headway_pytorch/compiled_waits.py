# SPDX-License-Identifier: MIT
"""How long a compiled train function of Keras waits for tf.data inside of itself.

Python does not see that fetch. tf.data keeps the gaps between its fetches, in µs, which the public
tf.data.experimental.get_model_proto() gives: the time from one call to the next without the gap between their fetches
is what the first of them waited. An empty range says so later; the analyzer puts it where the wait was
(docs/reference/nvtx-conventions.md).
"""
import sys
import time

from headway_pytorch.core import INPUT, INPUT_WAIT, name, nvtx

_EVERY = 24  # calls: the question takes some 150 µs, and the answer holds the latest gaps only
_KEPT = 100  # gaps that tf.data keeps
_LEAST_US = 50  # to begin a call takes about that long


class Calls:
    """Of one train function with one iterator. The first call of all is left out: it traces before it fetches."""

    def __init__(self, iterator, is_first):
        self.iterator = iterator
        self.skips = is_first
        self.begun = []  # when each call began; of those that were asked about only the latest
        self.fetches = 0  # of the iterator so far
        self.works = True

    def begins(self):
        self.begun.append(time.monotonic_ns())

    def ends(self):
        self.fetches += 1
        if len(self.begun) > _EVERY:
            self.tell()

    def tell(self):
        """Of all calls but the latest: no gap ends its fetch yet."""
        begun, self.begun = self.begun, self.begun[-1:]
        if not self.works or len(begun) < 2:
            return
        try:
            data = sys.modules["tensorflow"].data
            gaps = list(data.experimental.get_model_proto(self.iterator).gap_times)
        except Exception:  # no model is kept: autotuning is off, or this version has none
            self.works = False
            return
        if len(gaps) != min(self.fetches - 1, _KEPT):  # some are missing: which gap is whose is not known
            return
        gaps = gaps[1 - len(begun) :]
        now = time.monotonic_ns()
        for i, gap in enumerate(gaps):
            waited = (begun[i + 1] - begun[i]) // 1000 - gap
            if waited >= _LEAST_US and not self.skips:
                _wait(waited, (now - begun[i]) // 1000)
            self.skips = False


def _wait(took_us, begun_us):
    nvtx.push(name("IteratorGetNext"), INPUT_WAIT, INPUT, -1, -1, begun_us, took_us)
    nvtx.pop()
