# SPDX-License-Identifier: MIT
"""How long a compiled train function of Keras waits for tf.data inside the function.

Python does not see that fetch. tf.data keeps the gaps between its fetches, in µs, and the public function
tf.data.experimental.get_model_proto() returns them. The time from one call to the next, minus the gap between their
fetches, is the wait of the first call. An empty range reports it later; the analyzer puts it where the wait was
(docs/reference/nvtx-conventions.md).
"""
import sys
import time

from headway_pytorch.core import INPUT, INPUT_WAIT, name, nvtx

_EVERY = 24  # calls between two questions: one takes some 150 µs, and its answer has only the latest gaps
_KEPT = 100  # number of gaps that tf.data keeps
_LEAST_US = 50  # shorter waits are not reported: beginning a call takes about this long


class Calls:
    """The calls of one train function with one iterator. The very first call is left out: it traces before it fetches."""

    def __init__(self, iterator, is_first):
        self.iterator = iterator
        self.skips = is_first
        self.begun = []  # when each call began; after a report only the latest call is kept
        self.fetches = 0  # number of fetches from the iterator so far
        self.works = True

    def begins(self):
        self.begun.append(time.monotonic_ns())

    def ends(self):
        self.fetches += 1
        if len(self.begun) > _EVERY:
            self.tell()

    def tell(self):
        """Reports the waits of all calls but the latest, whose fetch has no gap after it yet."""
        begun, self.begun = self.begun, self.begun[-1:]
        if not self.works or len(begun) < 2:
            return
        try:
            data = sys.modules["tensorflow"].data
            gaps = list(data.experimental.get_model_proto(self.iterator).gap_times)
        except Exception:  # tf.data keeps no model: autotuning is off, or this version has none
            self.works = False
            return
        if len(gaps) != min(self.fetches - 1, _KEPT):  # gaps are missing: they cannot be assigned to calls
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
