#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What memory that is kept gains, predicted and done, of random programs in PyTorch (scripts/sweep/programs).

tests/bench/page_faults_bench.py HEADWAY PYTHON [--seed S] [--programs N]
tests/bench/page_faults_bench.py --models PYTHON     eight plain models, unrecorded: a step without and with what the fix says, four runs of each in turns

Each program is recorded, whatif's prediction of keep-freed-memory taken, and recorded again with what the fix says in its environment: both
in one go, as the number of faults differs from run to run. Errors are shares of the step that was recorded without the change."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from real_changes import KEPT  # noqa: E402
from sweep import draw_pytorch  # noqa: E402

LANGUAGE = [(32, 4, 32), (64, 8, 32), (128, 16, 64), (256, 8, 64)]  # width, batch, length
CONVOLUTIONS = [(8, 16), (16, 32), (32, 8), (64, 32)]  # width, batch of 32 x 32 pixels
STEPS, RUNS = 100, 4


def one_model(sizes):
    """ms and page faults of a step, in this process."""
    import resource
    import time

    import torch
    from torch import nn
    torch.set_num_threads(1)
    torch.manual_seed(0)
    width, batch = sizes[:2]
    if len(sizes) == 3:
        layers = nn.Embedding(1000, width), nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0, batch_first=True), nn.Linear(width, 1000)
        inputs = torch.randint(0, 1000, (batch, sizes[2]))
        targets = inputs.flatten()
    else:
        layers = (nn.Conv2d(3, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU(),
                  nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))
        inputs, targets = torch.rand(batch, 3, 32, 32), torch.randint(0, 10, (batch,))
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs).flatten(0, -2), targets).backward()
        optimizer.step()

    for _ in range(20):
        step()
    faults, begin = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt, time.perf_counter()
    for _ in range(STEPS):
        step()
    took = time.perf_counter() - begin
    print(took / STEPS * 1e3, (resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - faults) / STEPS)


def all_models(python):
    print("model                        ms   kept: ms   us gained per fault   faults in a step, each run")
    for sizes in LANGUAGE + CONVOLUTIONS:
        runs = {"": [], "kept": []}
        for _ in range(RUNS):
            for how, its in runs.items():
                command = [python, __file__, "--one", *map(str, sizes)]
                text = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **(KEPT if how else {})}).stdout
                its.append([float(word) for word in text.split()])
        (ms, faults), (kept_ms, kept_faults) = ([statistics.median(column) for column in zip(*its)] for its in runs.values())
        name = ("language model " if len(sizes) == 3 else "convolutions ") + ", ".join(map(str, sizes))
        fewer = faults - kept_faults
        each = f"{(ms - kept_ms) * 1e3 / fewer:8.2f}" if fewer >= 16 else "       -"
        print(f"{name:26}{ms:7.2f}{kept_ms:10.2f}  {each}              {', '.join(f'{one[1]:.0f}' for one in runs[''])}", flush=True)


def main():
    if sys.argv[1:2] == ["--one"]:
        return one_model([int(word) for word in sys.argv[2:]])
    if sys.argv[1:2] == ["--models"]:
        return all_models(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway", type=pathlib.Path)
    parser.add_argument("python")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--programs", type=int, default=12)
    options = parser.parse_args()
    headway = str(options.headway.resolve())
    program = [options.python, str(ROOT / "scripts/sweep/programs/train.py"), "--quiet", "--memory", "returned"]

    def recorded(words, trace, environment):
        subprocess.run([headway, "record", "--quiet", "--force", "-o", trace, "--", *program, *words], check=True, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        return json.loads(subprocess.run([headway, "report", trace, "--json", "--predict", "no"], check=True, capture_output=True, text=True).stdout)

    errors, inside, rows = [], 0, 0
    print("step, ms   faults in a step   gain: predicted (95 % interval)   done   error")
    with tempfile.TemporaryDirectory() as folder:
        for index in range(options.programs):
            values = draw_pytorch.draw(options.seed, index, 0)
            if values["ranks"] != "1":
                continue
            words = [word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", value)]
            trace = os.path.join(folder, "trace.sqlite")
            before = recorded(words, trace, {})["steps"]["step_cost_ns"]
            told = subprocess.run([headway, "whatif", trace, "--json", "--fix", "keep-freed-memory"], check=True, capture_output=True, text=True)
            fix = json.loads(told.stdout)["fixes"][0]
            after = recorded(words, os.path.join(folder, "kept.sqlite"), KEPT)["steps"]["step_cost_ns"]
            done = 1 - after / before
            if not fix["applies"]:
                print(f"{before / 1e6:8.2f}   {fix['text']:60} {done:7.1%}")
                continue
            predicted, low, high = (fix[key] / before for key in ("gain_ns", "gain_low_ns", "gain_high_ns"))
            errors.append(abs(predicted - done))
            inside += low <= done <= high
            rows += 1
            print(f"{before / 1e6:8.2f}   {fix['text'].split('faults, ')[1].split(' in ')[0]:>8}           {predicted:7.1%} ({low:.1%} to {high:.1%})   {done:7.1%}   {predicted - done:+.1%}")
    if rows:
        print(f"{rows} programs with page faults: error median {statistics.median(errors):.1%}, largest {max(errors):.1%} of the step; {inside} inside the interval")


if __name__ == "__main__":
    main()
