#!/usr/bin/env python3
"""What a build costs: CPU-minutes of each module and the costliest commands.

  scripts/build_cost.py --run PRESET [--target NAME...] [-D...]   builds from nothing in build/cost-PRESET, then prints
  scripts/build_cost.py [BUILD_DIR]                               prints again what that build took

Each compile and link command runs through this script, which writes down its processor time (not the time that
passed: other programs may run beside it). No compiler cache is used. kernels/*/*.cu go through nvcc and are not
commands of CMake's own: their time is the rest that the last line names.
"""
import argparse
import collections
import os
import pathlib
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = "build_cost.log"


def launched(log, command):
    """Runs one command of the build; a line of the log is `seconds<TAB>output`."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else command[-1]
    with open(log, "a") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.2f}\t{output}\n")
    return status


def build(preset, targets, options):
    folder = ROOT / "build" / f"cost-{preset}"
    shutil.rmtree(folder, ignore_errors=True)
    launcher = f"{sys.executable};{ROOT / 'scripts/build_cost.py'};--log;{folder / LOG}"
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run(["cmake", "--preset", preset, "-B", folder, *options,
                    *(f"-DCMAKE_{language}_{what}_LAUNCHER={launcher}"
                      for language in ("C", "CXX") for what in ("COMPILER", "LINKER"))],
                   cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["cmake", "--build", folder] + (["--target", *targets] if targets else [])
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    with open(folder / LOG, "a") as file:
        file.write(f"{total:.2f}\tTOTAL\n")
    return folder, status


def module(output):
    """The folder whose CMakeLists.txt makes the output, or `links`."""
    return output.split("/CMakeFiles/")[0] if "/CMakeFiles/" in output else "links"


def members(folder, output):
    """What a unit of many files holds: `(N files: first, ...)`."""
    source = folder / output.removesuffix(".o")
    if not source.name.startswith("unity_") or not source.is_file():
        return ""
    files = [line.split('"')[1] for line in source.read_text().splitlines() if line.startswith("#include")]
    return f"  ({len(files)} files: {pathlib.Path(files[0]).name}, ...)"


def print_cost(folder):
    if not (folder / LOG).is_file():
        raise SystemExit(f"build_cost.py: {folder} has no {LOG}: build it with --run PRESET")
    rows = [line.rstrip("\n").split("\t") for line in open(folder / LOG)]
    costs = [(float(seconds), output) for seconds, output in rows if output != "TOTAL"]
    total = sum(float(seconds) for seconds, output in rows if output == "TOTAL")
    modules, counts = collections.Counter(), collections.Counter()
    for seconds, output in costs:
        modules[module(output)] += seconds
        counts[module(output)] += 1
    print(f"{'CPU-minutes':>11}  {'commands':>8}  module")
    for name, seconds in modules.most_common():
        print(f"{seconds / 60:11.2f}  {counts[name]:8}  {name}")
    print(f"\n{'CPU-seconds':>11}  the 20 costliest commands")
    for seconds, output in sorted(costs, reverse=True)[:20]:
        print(f"{seconds:11.1f}  {output}{members(folder, output)}")
    known = sum(modules.values())
    print(f"\n{(total or known) / 60:.1f} CPU-minutes, of which compilers and linkers {known / 60:.1f}, "
          f"nvcc and the rest {max(total - known, 0) / 60:.1f}")


def main():
    if sys.argv[1:2] == ["--log"]:
        return launched(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="BUILD_DIR")
    parser.add_argument("--run", metavar="PRESET", help="build from nothing first")
    parser.add_argument("--target", nargs="+", default=[], help="with --run: these targets only")
    arguments, options = parser.parse_known_args()
    status = 0
    folder = arguments.folder or ROOT / "build/cost-release"
    if arguments.run:
        folder, status = build(arguments.run, arguments.target, options)
    print_cost(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
