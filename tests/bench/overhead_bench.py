#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs, all of it in one run: ns per NVTX pair, per call on a file, per record of CUPTI; the recorder's processor time
per 100 000 events and bytes per event; and beside it LTTng-UST, where it is installed. Variants take turns, so that what else the machine
does falls on all. Usage: overhead_bench.py BIN_FOLDER [--quick] [--repeats N]"""
import argparse
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import tempfile

BURSTS = 20
PAIRS_PER_BURST = 2000


def output(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def meta(trace):
    database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    values = dict(database.execute("SELECT name, value FROM HEADWAY_META"))
    # Without any loss there is no table of them.
    losses = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'HEADWAY_LOSS'").fetchone()[0]
    lost = losses and database.execute("SELECT coalesce(sum(count), 0) FROM HEADWAY_LOSS WHERE name = 'ring_full'").fetchone()[0]
    database.close()
    if lost:
        raise SystemExit(f"{lost} events were dropped: the figures would flatter")
    return values


class Headway:
    def __init__(self, bin_folder, folder):
        self.bin = bin_folder
        self.trace = folder / "run.sqlite"

    def record(self, command, options=(), **more):
        return output([self.bin / "headway", "record", "--quiet", "--force", "--counter-rate", "0", *options, "-o", self.trace, "--",
                       *command], **more)

    def pair(self, clock, bursts):
        return float(self.record([self.bin / "headway_bench_nvtx", "--measure", "0", "1", str(bursts)], ["--clock", clock]))

    def per_event(self, bursts):
        """Processor time of the recorder and bytes for an event, over a run of the same length without events."""
        seen = {}
        for name, call in (("idle", "3"), ("busy", "0")):
            self.record([self.bin / "headway_bench_nvtx", "--measure", call, "2", str(bursts)], ["--clock", "auto"])
            values = meta(self.trace)
            seen[name] = (float(values["recorder_cpu_ns"]), int(values["records"]), self.trace.stat().st_size)
        events = seen["busy"][1]
        return (seen["busy"][0] - seen["idle"][0]) / events, (seen["busy"][2] - seen["idle"][2]) / events

    def io(self, what, clock, data, bursts):
        plain, hooked = map(float, self.record([self.bin / "headway_bench_io", "--measure", what, data, str(bursts)],
                                               ["--io", "--clock", clock]).split())
        return plain, hooked

    def cuda(self, records):
        libraries = str(self.bin / "targets" / "cupti")
        return float(self.record([self.bin / "headway_bench_cuda", str(records)],
                                 env={**os.environ, "LD_LIBRARY_PATH": libraries}))


class Lttng:
    """LTTng-UST as its manual sets it up: a session with one channel, its daemons in a home of their own."""

    def __init__(self, bin_folder, folder):
        self.program = bin_folder / "headway_bench_lttng_peer"
        self.home = folder / "lttng home"
        self.environment = {**os.environ, "LTTNG_HOME": str(self.home), "LTTNG_UST_REGISTER_TIMEOUT": "3000"}
        self.usable = self.program.exists() and bool(shutil.which("lttng")) and bool(shutil.which("lttng-sessiond"))

    def daemons(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "comm").read_text().startswith("lttng-consumerd"):
                    found.append(entry)
            except OSError:
                pass
        return found

    def cpu_ns(self):
        ticks = 0
        for process in self.daemons():
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def control(self, *arguments):
        output(["lttng", *arguments], env=self.environment)

    def __enter__(self):
        self.home.mkdir(exist_ok=True)
        self.daemon = None
        if self.usable:
            self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
            for _ in range(100):
                if subprocess.run(["lttng", "list"], env=self.environment, capture_output=True).returncode == 0:
                    break
                subprocess.run(["sleep", "0.05"])
            else:
                self.usable = False
        return self

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(timeout=30)

    def pair(self, bursts):
        """ns a pair, and what the daemon used and stored for an event."""
        traces = self.home / "traces"
        self.control("create", "bench", "--output", str(traces))
        self.control("enable-channel", "--userspace", "--subbuf-size", "1M", "--num-subbuf", "8", "channel")
        self.control("enable-event", "--userspace", "--channel", "channel", "headway_bench:*")
        self.control("start")
        before = self.cpu_ns()
        ns = float(output([self.program, str(bursts)], env=self.environment))
        self.control("stop")
        used = self.cpu_ns() - before
        self.control("destroy", "bench")
        stored = sum(file.stat().st_size for file in traces.rglob("channel_*") if file.is_file())
        shutil.rmtree(traces)
        events = 2 * PAIRS_PER_BURST * bursts
        return ns, used / events, stored / events


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="each once, short")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    repeats, bursts = (1, 4) if options.quick else (options.repeats, BURSTS)
    figures = {}

    def add(name, value, unit):
        figures.setdefault((name, unit), []).append(value)

    with tempfile.TemporaryDirectory(prefix="headway bench ") as name:
        folder = pathlib.Path(name)
        data = folder / "data"
        data.write_bytes(b"x" * (1 << 20))
        headway = Headway(options.bin.resolve(), folder)
        with Lttng(options.bin.resolve(), folder) as lttng:
            for _ in range(repeats):
                add("nvtx_pair_no_tool", float(output([headway.bin / "headway_bench_nvtx", "--measure", "0", "1", str(bursts)])), "ns")
                for clock in ("tsc", "realtime"):
                    try:
                        add(f"nvtx_pair_{clock}", headway.pair(clock, bursts), "ns")
                    except subprocess.CalledProcessError as error:
                        if error.returncode != 2:
                            raise
                        print(f"[skipped] clock {clock}: {error.stderr.strip()}")
                if lttng.usable:
                    pair, cpu, size = lttng.pair(bursts)
                    add("lttng_pair", pair, "ns")
                    add("lttng_daemon_cpu_per_100k_events", cpu * 1e5 / 1e6, "ms")
                    add("lttng_bytes_per_event", size, "B")
                cpu, size = headway.per_event(4 * bursts)
                add("recorder_cpu_per_100k_events", cpu * 1e5 / 1e6, "ms")
                add("file_bytes_per_event", size, "B")
                for what in ("16", "4096"):
                    plain, hooked = headway.io(what, "auto", data, bursts)
                    add(f"io_pread_{what}_plain", plain, "ns")
                    add(f"io_pread_{what}_hook", hooked - plain, "ns")
                if (headway.bin / "headway_bench_cuda").exists():
                    add("cuda_record", headway.cuda(4_000 if options.quick else 40_000), "ns")
            if not lttng.usable:
                print("[skipped] LTTng-UST: not installed, or its daemon does not start")
    for (name, unit), values in figures.items():
        values.sort()
        print(f"{name}: {statistics.median(values):.1f} {unit} ({values[0]:.1f} to {values[-1]:.1f}, {len(values)} runs)")


if __name__ == "__main__":
    main()
