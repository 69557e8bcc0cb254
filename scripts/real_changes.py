#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is a prediction true of a program that nobody here wrote? Makes the predicted change, and measures what it gains.

scripts/real_changes.py HEADWAY [--rounds N] --change FIX=CHANGE … -- COMMAND …

Records COMMAND once, unmodified, and asks `headway whatif` for each FIX. Then COMMAND runs unrecorded, without and with each
CHANGE in turns, N times (3). A round's figure is the time of a step after a tenth of them, with all that lies between
steps; the medians of the rounds are compared. A CHANGE is made from outside, by a sitecustomize of its own; several are
joined by +:
  fused          Adam, AdamW and SGD take fused=True
  memory         each DataLoader's dataset is a list of what its __getitem__ returned, made before training
  workers=N      each DataLoader has num_workers=N, persistent_workers=True
  batch=N        each DataLoader has N times the batch
  pinned         each DataLoader has pin_memory=True, and tensors go to the GPU without blocking
  bf16           all after the first optimizer was made runs under autocast in BF16
  tf32           products and convolutions may use TF32
  channels-last  models lie as NHWC
  kept           the C library keeps what is freed (its settings are in the program's environment)
  compile        models go through torch.compile
  graphs         models go through torch.compile(backend="cudagraphs"): each pass is a CUDA graph
With --steps N a run ends after N optimizer steps, for programs that take hours.
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

times, changes = [], os.environ["REAL_CHANGE"].split("+")
most = int(os.environ.get("REAL_CHANGE_STEPS", 0))


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
    pid = os.getpid()

    def after_step(*_):
        if os.getpid() != pid:
            return
        if torch.cuda.is_initialized() and len(times) + 1 in (most // 10 + 1, most):
            torch.cuda.synchronize()
        times.append(time.monotonic())
        if len(times) == most:
            raise SystemExit(0)

    register_optimizer_step_post_hook(after_step)
    for optimizer in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD) if "fused" in changes else ():
        def fused(self, *args, _init=optimizer.__init__, **options):
            options.pop("foreach", None)
            _init(self, *args, **{"fused": True, **options})
        optimizer.__init__ = fused
    if "tf32" in changes:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if "bf16" in changes:
        cast_from_first_optimizer(torch)
    if "pinned" in changes:
        for name in ("to", "cuda"):
            def move(self, *args, _move=getattr(torch.Tensor, name), **options):
                if not self.is_cuda:
                    options.setdefault("non_blocking", True)
                return _move(self, *args, **options)
            setattr(torch.Tensor, name, move)
    compilers = {"compile": {}, "graphs": {"backend": "cudagraphs"}}
    place_models(torch, next((compilers[change] for change in changes if change in compilers), None))
    change_loaders(torch.utils.data.DataLoader)


def cast_from_first_optimizer(torch):
    init = torch.optim.Optimizer.__init__

    def cast(self, *args, **options):
        torch.optim.Optimizer.__init__ = init
        # Nobody leaves this scope, so casts must not be kept: parameters change.
        torch.autocast("cuda" if torch.cuda.is_available() else "cpu", dtype=torch.bfloat16, cache_enabled=False).__enter__()
        init(self, *args, **options)

    torch.optim.Optimizer.__init__ = cast


def place_models(torch, compiler):
    """Models are changed when the program moves them to the device."""
    if compiler is None and "channels-last" not in changes:
        return
    to, inside = torch.nn.Module.to, []
    for name in ("to", "cuda"):
        def place(self, *args, _place=getattr(torch.nn.Module, name), **options):
            model = _place(self, *args, **options)
            if inside or next(self.parameters(), None) is None:
                return model
            inside.append(self)
            if "channels-last" in changes:
                to(self, memory_format=torch.channels_last)
            if compiler is not None:
                self.compile(**compiler)
            inside.clear()
            return model
        setattr(torch.nn.Module, name, place)


def change_loaders(loader):
    init, sizes = loader.__init__, dict(change.split("=") for change in changes if "=" in change)

    def changed(self, dataset, batch_size=1, *args, **options):
        if "workers" in sizes:
            options.update(num_workers=int(sizes["workers"]), persistent_workers=sizes["workers"] != "0")
        if "pinned" in changes:
            options["pin_memory"] = True
        if batch_size is not None:
            batch_size *= int(sizes.get("batch", 1))
        init(self, Kept(dataset) if "memory" in changes else dataset, batch_size, *args, **options)

    if sizes or "memory" in changes or "pinned" in changes:
        loader.__init__ = changed


def end():
    first = len(times) // 10
    if len(times) > 20:
        with open(os.environ["REAL_CHANGE_TIMES"], "w") as file:
            json.dump((times[-1] - times[first]) / (len(times) - 1 - first), file)


sys.meta_path.insert(0, AfterImport())
atexit.register(end)
'''


KEPT = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0"}


def environment(change, folder):
    memory = KEPT if "kept" in change.split("+") else {}
    return {**os.environ, **memory, "PYTHONPATH": str(folder), "REAL_CHANGE": change, "REAL_CHANGE_TIMES": str(folder / "times.json")}


def recorded(headway, command, folder):
    """Fixes of `headway whatif` by id, and the recorded step in ns."""
    trace = folder / "run.sqlite"
    # Unmodified, unless it would not end.
    env = environment("", folder) if "REAL_CHANGE_STEPS" in os.environ else None
    subprocess.run([headway, "record", "--force", "-o", trace, "--", *command], check=True, stdout=subprocess.DEVNULL, env=env)
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
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=environment(change, folder))
    if not times.exists():
        sys.exit(f"real_changes.py: {' '.join(command)} with change '{change}': fewer than 21 optimizer steps were made, "
                 "or PYTHONPATH is overwritten; give it more steps.")
    larger = dict(one.split("=") for one in change.split("+") if "=" in one).get("batch", 1)
    return json.loads(times.read_text()) / int(larger)  # of the recorded batch, as larger-batch predicts it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--change", action="append", required=True, metavar="FIX=CHANGE")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    changes = dict(one.split("=", 1) for one in options.change)
    if options.steps:
        os.environ["REAL_CHANGE_STEPS"] = str(options.steps)
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
