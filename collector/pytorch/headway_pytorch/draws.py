# SPDX-License-Identifier: MIT
"""Whether making samples draws from the global random generators of the process. If so, a sample differs each time it
is made, and caching it would change the training. Reported once per process, as a setting. A data set's own generators
are not seen."""
import random
import sys

from headway_pytorch import core

_LOOKS = 4  # number of batches; a copy of all states takes some 50 µs


def _of_python():
    return random.getstate()


def _of_torch():
    return sys.modules["torch"].default_generator.get_state().tolist()


def _of_numpy():
    _, keys, *rest = sys.modules["numpy"].random.get_state()
    return keys.tobytes(), rest


_GENERATORS = {"random": _of_python, "torch": _of_torch, "numpy": _of_numpy}


class Draws:
    """Compares the generators' states before and after the first batches of a process."""

    def __init__(self):
        self.left = _LOOKS
        self.before = None

    def begin(self):
        self.before = self._states() if self.left else None

    def end(self):
        """-> whether it has seen enough."""
        before, self.before = self.before, None
        if before is None:
            return not self.left
        self.left -= 1
        after = self._states()
        drawn = [name for name in before if name in after and before[name] != after[name]]
        if drawn:
            self.left = 0
            core.tell("DataLoader.samples_draw_from", " ".join(drawn))
        elif after and not self.left:
            core.tell("DataLoader.samples_draw_nothing", "in %d batches" % _LOOKS)
        return not self.left

    def _states(self):
        try:
            return {name: state() for name, state in _GENERATORS.items() if name in sys.modules}
        except Exception:  # an unknown kind of generator: nothing is reported
            self.left = 0
            return {}
