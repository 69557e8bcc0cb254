# SPDX-License-Identifier: MIT
"""The program's own profiler, torch.profiler or torch.autograd.profiler. Steps take longer while it runs, and stopping it
takes a while: the trace says which steps it affects, and has ranges for the stop and the export."""
import sys

from headway_pytorch import core
from headway_pytorch.core import OTHER, name, nvtx

_OPTIONS = ("with_stack", "record_shapes", "profile_memory", "with_flops", "with_modules")
_spans = []  # [first step, step after the last one]; the second is None while the profiler runs
_options = set()


def _tell():
    """Reports the spans at each begin and end, because the program may be killed in between. Of a program that profiles
    every few steps, only the first _MOST spans are reported."""
    text = " ".join("%d-%s" % (first, "" if end is None else end) for first, end in _spans)
    core.tell("torch.profiler", " ".join([text] + sorted(_options)))


_MOST = 16


def _begins(args, kwargs):
    return args[0]


def _began(token, error, result):
    if error or len(_spans) >= _MOST or (_spans and _spans[-1][1] is None):
        return
    _options.update(one for one in _OPTIONS if getattr(token, one, False))
    _spans.append([nvtx.steps_ended(), None])
    _tell()


_stops = 0  # depth of nested stops: torch.profiler stops that of torch.autograd within its own stop


def _ends(args, kwargs):
    global _stops
    _stops += 1
    if _spans and _spans[-1][1] is None:
        # The step in which the profiler stops is the last one that it makes longer.
        _spans[-1][1] = nvtx.steps_ended() + 1
        _tell()
    return nvtx.push(name("torch.profiler: stop"), OTHER) if _stops == 1 else None


def _stopped(token, error, result):
    global _stops
    _stops -= 1
    if token is not None:
        nvtx.pop_to(token)


def _export(args, kwargs):
    return nvtx.push(name("torch.profiler: export"), OTHER)


def _exported(token, error, result):
    nvtx.pop_to(token)


def attach(torch):
    public = sys.modules.get("torch.profiler")
    if hasattr(public, "profile"):
        core.wrap(public.profile, "start_trace", _begins, _began, "torch.profiler")
        core.wrap(public.profile, "stop_trace", _ends, _stopped, "torch.profiler")
        core.wrap(public.profile, "export_chrome_trace", _export, _exported, "torch.profiler")
    older = torch.autograd.profiler.profile
    core.wrap(older, "__enter__", _begins, _began, "torch.profiler")
    core.wrap(older, "__exit__", _ends, _stopped, "torch.profiler")
