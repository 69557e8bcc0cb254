#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From file to full report: Headway, and where asked a peer on the same file in the same run.
Usage: report_bench.py HEADWAY TRACE... [--runs N] [--hta PYTHON]
--hta names the Python of an environment with HolisticTraceAnalysis; it does four of its analyses (temporal breakdown, overlap, idle
time, kernel breakdown), which together are less than our report. Prints wall time and peak resident memory as `name: value unit`."""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HTA = """
import logging, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_dir=sys.argv[1], include_last_profiler_step=True)
for step in (analysis.get_temporal_breakdown, analysis.get_comm_comp_overlap, analysis.get_gpu_kernel_breakdown,
             analysis.get_idle_time_breakdown):
    try:
        step(visualize=False)
    except Exception as error:  # it gives up on some traces; the time until then counts all the same
        print(step.__name__, type(error).__name__, file=sys.stderr)
"""


def measure(command):
    """Wall seconds and peak resident bytes of the command and its children."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]}: exit status {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_maxrss * 1024


def peer(python, trace):
    with tempfile.TemporaryDirectory(prefix="headway bench ") as name:
        folder = pathlib.Path(name)
        shutil.copy(trace, folder / trace.name)  # it reads whole folders
        return measure([python, "-W", "ignore", "-c", HTA, name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path, nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hta", type=pathlib.Path)
    options = parser.parse_args()
    for trace in options.traces:
        with tempfile.TemporaryDirectory(prefix="headway bench ") as folder:
            output = pathlib.Path(folder) / "report.json"
            runs = [measure([options.headway, "report", trace, "-o", output]) for _ in range(options.runs)]
        wall = statistics.median(r[0] for r in runs)
        memory = max(r[1] for r in runs)
        print(f"{trace.name} report: {wall:.2f} s")
        print(f"{trace.name} report_slowest: {max(r[0] for r in runs):.2f} s")
        print(f"{trace.name} report_peak_memory: {memory / 1e9:.2f} GB")
        print(f"{trace.name} report_input_rate: {trace.stat().st_size / 1e6 / wall:.0f} MB/s")
        if options.hta:
            seconds, peak = peer(options.hta, trace)
            print(f"{trace.name} hta: {seconds:.1f} s")
            print(f"{trace.name} hta_peak_memory: {peak / 1e9:.2f} GB")
            print(f"{trace.name} hta_over_report: {seconds / wall:.0f} ratio", flush=True)


if __name__ == "__main__":
    main()
