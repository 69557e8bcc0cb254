#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether build B is slower than build A: the same work by both in turns. Exit status 1 where B takes over 10 % more for any of it.
Usage: compare_builds.py A B [--rounds N] [--only WORD] [--limit PERCENT]
A and B are folders with programs (build/dev/bin). Processor time of a command and its children counts, since other load of the machine
changes it less than wall time. Each round runs both builds in random order; the ratio B/A is the median over rounds, with a 95 %
bootstrap interval. A work counts as slower where even the low end of its interval is above the limit."""
import argparse
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile

RUN = "--device sim --model transformer --layers 6 --batch 4 --eval off --quiet"
MAKE = [  # by build A, once
    f"{{bin}}/headway-train {RUN} --steps 400 --trace run.sqlite",
    f"{{bin}}/headway-train {RUN} --steps 400 --launch-us 20 --trace slower.sqlite",
    f"{{bin}}/headway-train {RUN} --steps 40 --ranks 8 --trace ranks.sqlite",
    "{bin}/headway export run.sqlite --format chrome -o run.json.gz",
]
WORK = [
    ("report of an own file", "{bin}/headway report run.sqlite --json"),
    ("report of 8 ranks", "{bin}/headway report ranks.sqlite --json"),
    ("report of PyTorch's JSON, gzip", "{bin}/headway report run.json.gz --json"),
    ("what-if, all fixes", "{bin}/headway whatif run.sqlite --json"),
    ("diff of two files", "{bin}/headway diff run.sqlite slower.sqlite"),
    ("table of kernels", "{bin}/headway stats run.sqlite kernels --format csv"),
    ("export to Chrome's JSON", "{bin}/headway export run.sqlite --format chrome --force -o again.json.gz"),
    ("simulated run", f"{{bin}}/headway-train {RUN} --steps 200"),
    ("training on the host", "{bin}/headway-train --device host --data generated --depth 8 --batch 16 --steps 6 --eval off --quiet"),
    ("training on the host, recorded", "{bin}/headway record --quiet --force -o recorded.sqlite -- {bin}/headway-train --device host --data generated"
     " --model transformer --layers 4 --features 16 --heads 2 --sequence 16 --batch 1 --steps 600 --eval off --quiet"),
]


def seconds(command, folder, bin_folder):
    """Processor time of a command and its children."""
    words = [word.replace("{bin}", str(bin_folder)) for word in command.split()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"compare_builds.py: exit status {done.returncode} of: {' '.join(words)}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interval(ratios):
    """95 % of the medians of resampled rounds."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[-50]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", type=pathlib.Path, help="folder of programs that is the reference")
    parser.add_argument("b", type=pathlib.Path, help="folder of programs to judge")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="work whose name contains this")
    parser.add_argument("--limit", type=float, default=10, help="percent that B may take more (10)")
    args = parser.parse_args()
    if args.rounds < 3:
        parser.error(f"--rounds {args.rounds}: an interval needs 3 at least")
    builds = {"A": args.a.resolve(), "B": args.b.resolve()}
    for folder in builds.values():
        if not (folder / "headway").is_file():
            parser.error(f"{folder}: has no program 'headway'; expected a folder like build/dev/bin")
    work = [one for one in WORK if args.only in one[0]]
    if not work:
        parser.error(f"no work has '{args.only}' in its name; there are: {', '.join(name for name, _ in WORK)}")
    slower = 0
    order = random.Random()
    print("| work | A, s | B, s | B/A | 95 % interval | |\n| --- | ---: | ---: | ---: | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="headway compare ") as folder:
        for command in MAKE:
            seconds(command, folder, builds["A"])
        for name, command in work:
            taken = {"A": [], "B": []}
            for _ in range(args.rounds):
                for build in order.sample(["A", "B"], 2):
                    taken[build].append(seconds(command, folder, builds[build]))
            ratios = [b / a for a, b in zip(taken["A"], taken["B"])]
            low, high = interval(ratios)
            regressed = low > 1 + args.limit / 100
            slower += regressed
            print(f"| {name} | {statistics.median(taken['A']):.2f} | {statistics.median(taken['B']):.2f} | {statistics.median(ratios):.3f} "
                  f"| {low:.3f} to {high:.3f} | {'slower' if regressed else ''} |", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
