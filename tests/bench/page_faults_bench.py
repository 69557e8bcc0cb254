#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What memory that is kept gains, predicted and done, of random programs in PyTorch (scripts/sweep/programs).

tests/bench/page_faults_bench.py HEADWAY PYTHON [--seed S] [--programs N]

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



def main():
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
