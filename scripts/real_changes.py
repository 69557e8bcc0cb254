#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is a prediction true of a program that nobody here wrote? Makes the predicted change, and measures what it gains.

scripts/real_changes.py HEADWAY [--rounds N] --change FIX=CHANGE … -- COMMAND …

Records COMMAND once, unmodified, and asks `headway whatif` for each FIX. Then COMMAND runs unrecorded, without and with each
CHANGE in turns, N times (3). A round's figure is the time of a step after a tenth of them, with all that lies between
steps; the medians of the rounds are compared. A CHANGE is made from outside, by a sitecustomize of its own:
  fused       Adam and AdamW take fused=True
  memory      each DataLoader's dataset is a list of what its __getitem__ returned, made before training
  workers=N   each DataLoader has num_workers=N, persistent_workers=True
Example, in a checkout of pytorch/examples, vae:
  scripts/real_changes.py build/dev/bin/headway --change samples-in-memory=memory --change fused-update=fused -- python3 main.py
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HOOK = '''
import atexit, json, os, sys, time

times, change = [], os.environ["REAL_CHANGE"]


class AfterImport:
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        import importlib.util
        spec = importlib.util.find_spec("torch")
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            attach(module)

        spec.loader.exec_module = exec_module
        return spec


class Kept:
    def __init__(self, dataset):
        self.dataset, self.samples = dataset, [dataset[i] for i in range(len(dataset))]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]

    def __getattr__(self, name):
        return getattr(self.__dict__["dataset"], name)


def attach(torch):
    from torch.optim.optimizer import register_optimizer_step_post_hook
    register_optimizer_step_post_hook(lambda *_: times.append(time.monotonic()))
    for optimizer in (torch.optim.Adam, torch.optim.AdamW) if change == "fused" else ():
        def fused(self, *args, _init=optimizer.__init__, **options):
            options.pop("foreach", None)
            _init(self, *args, **{"fused": True, **options})
        optimizer.__init__ = fused
    loader = torch.utils.data.DataLoader
    init = loader.__init__

    def changed(self, dataset, *args, **options):
        if change.startswith("workers="):
            options.update(num_workers=int(change[8:]), persistent_workers=True)
        init(self, Kept(dataset) if change == "memory" else dataset, *args, **options)

    if change == "memory" or change.startswith("workers="):
        loader.__init__ = changed


def end():
    first = len(times) // 10
    if len(times) > 20:
        with open(os.environ["REAL_CHANGE_TIMES"], "w") as file:
            json.dump((times[-1] - times[first]) / (len(times) - 1 - first), file)


sys.meta_path.insert(0, AfterImport())
atexit.register(end)
'''


def recorded(headway, command, folder):
    """Fixes of `headway whatif` by id, and the recorded step in ns."""
    trace = folder / "run.sqlite"
    subprocess.run([headway, "record", "--force", "-o", trace, "--", *command], check=True, stdout=subprocess.DEVNULL)
    asked = subprocess.run([headway, "whatif", "--json", trace], capture_output=True, text=True)
    if asked.returncode:
        sys.exit(f"real_changes.py: {' '.join(command)}: nothing can be predicted.\n{asked.stderr}")
    told = json.loads(asked.stdout)
    if "baseline" not in told:
        sys.exit(f"real_changes.py: {' '.join(command)}: nothing can be predicted, because {told.get('cannot_predict')}.")
    return {fix["id"]: fix for fix in told["fixes"]}, told["baseline"]["step_ns"]


def step_s(command, change, folder):
    """One run, unrecorded: seconds a step."""
    times = folder / "times.json"
    times.unlink(missing_ok=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
        **os.environ, "PYTHONPATH": str(folder), "REAL_CHANGE": change, "REAL_CHANGE_TIMES": str(times)})
    if not times.exists():
        sys.exit(f"real_changes.py: {' '.join(command)} with change '{change}': fewer than 21 optimizer steps were made, "
                 "or PYTHONPATH is overwritten; give it more steps.")
    return json.loads(times.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--change", action="append", required=True, metavar="FIX=CHANGE")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    changes = dict(one.split("=", 1) for one in options.change)
    with tempfile.TemporaryDirectory(prefix="headway changes ") as name:
        folder = pathlib.Path(name)
        (folder / "sitecustomize.py").write_text(HOOK)
        fixes, step_ns = recorded(options.headway.resolve(), options.command, folder)
        costs = {change: [] for change in ("", *changes.values())}
        for _ in range(options.rounds):
            for change, its in costs.items():
                its.append(step_s(options.command, change, folder))
        base = statistics.median(costs[""])
        print(f"recorded step {step_ns / 1e6:.2f} ms; unrecorded {', '.join(f'{1e3 * one:.2f}' for one in costs[''])} ms")
        for fix, change in changes.items():
            done = 1 - statistics.median(costs[change]) / base
            told = fixes.get(fix, {})
            if "gain_ns" not in told:
                print(f"{fix} ({change}): not predicted; done {done:.1%}")
                continue
            low, share, high = (told[key] / step_ns for key in ("gain_low_ns", "gain_ns", "gain_high_ns"))
            print(f"{fix} ({change}): predicted {share:.1%} ({low:.1%} to {high:.1%}), done {done:.1%}, "
                  f"{'inside' if low <= done <= high else 'outside'}")


if __name__ == "__main__":
    main()
