#!/usr/bin/env python3
"""Is what headway says of a program that nobody chose true? Draws random programs of headway-train, runs each, asks `headway report
--predict yes`, then does every single change and every advice, and measures what a step costs by the trainer's own clock.
What is lost by following the report's first advice instead of the best change is the regret, in % of the step's cost.
Usage: sweep.py --seed S --cases N [--device sim|host|pytorch] [--jobs K] [--json OUT]     all cases of a seed
       sweep.py --seed S --case K                                                          one of them, in full
The summary goes to standard output. Exit status 1: a program crashed, or (--check) an invariant is violated.
--device pytorch draws programs of scripts/sweep/programs, which need torch, numpy and pillow in the Python of --python.
--world off: the GPU of the tables instead of one that is drawn for each case.
--measured DIR keeps what was measured and judged, so that a sweep that was stopped goes on where it was; Ctrl-C sums up what is there.
--write-docs FILE: the figures into its section `sweep`, `sweep-host` or `sweep-pytorch`; of the last two with all programs."""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import pathlib
import shutil
import sys
import time

from sweep import summary
from sweep.draw import missing
from sweep.judge import judge
from sweep.measure import PyTorchTools, Tools

ROOT = pathlib.Path(__file__).resolve().parent.parent


def replace_section(file, name, text):
    """What stands between the two comments with that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = file.read_text().split(begin)
    _, after = rest.split(end)
    file.write_text(before + begin + text + end + after)


class JudgedCases:
    """Cases as these programs and scripts judged them, in the folder of --measured."""

    def __init__(self, given, tools, which):
        digest = hashlib.sha256(f"{which} {tools.kept.program}".encode())
        for name in [given.headway, *sorted(pathlib.Path(__file__).with_suffix("").glob("*.py"))]:
            digest.update(pathlib.Path(shutil.which(name) or name).read_bytes())
        self.folder, self.digest = given.measured, digest.hexdigest()[:32]

    def file(self, index):
        return self.folder / f"case-{self.digest}-{index}.json"

    def case(self, index):
        """None: not judged yet."""
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return json.loads(self.file(index).read_text())

    def keep(self, index, case):
        self.file(index).write_text(json.dumps(case))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["sim", "host", "pytorch"], default="sim")
    parser.add_argument("--seed", required=True, help="any text: the hash of a commit, a date")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="index of the first case")
    parser.add_argument("--case", type=int, help="only this index, as JSON")
    parser.add_argument("--headway", type=pathlib.Path, default=ROOT / "build/release/bin/headway")
    parser.add_argument("--train", type=pathlib.Path, default=ROOT / "build/release/bin/headway-train")
    parser.add_argument("--python", type=pathlib.Path, default=sys.executable, help="for --device pytorch")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--world", choices=["on", "off"], default="on")
    parser.add_argument("--repeat", type=int, help="rounds of all programs of a case, of which the fastest counts (default: host 3, pytorch 5, sim 1)")
    parser.add_argument("--json", type=pathlib.Path, help="all cases, and the summary's figures")
    parser.add_argument("--keep", type=pathlib.Path, help="with --case: where its trace is left")
    parser.add_argument("--measured", type=pathlib.Path, metavar="DIR", help="keeps what was measured and judged there, and takes it from there")
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="fail on violated invariants, too")
    given = parser.parse_args()
    for option, program in {"--headway": given.headway, "--train": given.train, "--python": given.python}.items():
        if (option == "--python") == (given.device == "pytorch") or option == "--headway":
            if not shutil.which(program):
                parser.error(f"{option} {program}: no such program; build it, or name another one")
    return given


def main():
    given = arguments()
    keep = given.measured and str(given.measured)
    if given.device == "pytorch":
        tools = PyTorchTools(given.headway, given.python, keep)
    else:
        tools = Tools(given.headway, given.train, given.device, keep)
    if given.device != "pytorch" and (unknown := missing(tools.defaults)):
        print(f"sweep: not drawn and not in NOT_DRAWN of scripts/sweep/draw.py: {', '.join(unknown)}", file=sys.stderr)
    world = given.world == "on" and "world" in tools.defaults and given.device == "sim"
    repeat = given.repeat or {"sim": 1, "host": 3, "pytorch": 5}[given.device]

    judged = JudgedCases(given, tools, f"{given.seed} {world} {repeat}") if given.measured else None

    def one(index):
        return judged and judged.case(index) or judge(tools, given.seed, index, world, repeat, given.keep and str(given.keep))

    if given.case is not None:
        case = one(given.case)
        print(json.dumps(case, indent=1, ensure_ascii=False))
        sys.exit("crashed" in case)
    cases = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        try:
            for index, case in enumerate(pool.map(one, range(given.first, given.first + given.cases)), given.first):
                cases.append(case)
                if judged:
                    judged.keep(index, case)
                if sys.stderr.isatty():
                    print(f"\r{len(cases)} of {given.cases}", end="", file=sys.stderr)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            given.cases = len(cases)
    command = f"scripts/sweep.py --device {given.device} --seed {given.seed} --cases {given.cases}" + (
        f" --first {given.first}" if given.first else "") + ("" if world or given.device != "sim" else " --world off") + (
        f" --repeat {given.repeat}" if given.repeat else "")
    print(summary.text(cases, command), end="")
    if given.json:
        figures = dict(summary.figures(cases))
        given.json.write_text(json.dumps({"command": command, "figures": figures, "cases": cases}, indent=1, ensure_ascii=False) + "\n")
    if given.write_docs:
        simulated = given.device == "sim"
        text = summary.markdown(cases, command, time.strftime("%Y-%m-%d"), programs=not simulated)
        replace_section(given.write_docs, "sweep" if simulated else f"sweep-{given.device}", text)
    violated = given.check and any(case.get("violations") for case in cases)
    sys.exit(any("crashed" in case for case in cases) or violated)


if __name__ == "__main__":
    main()
