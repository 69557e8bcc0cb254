#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A long load: two threads make 200,000 records a second (100,000 ranges), the recorder stores them, or with --ring keeps the last ten
seconds, and a reader opens the growing trace now and then. What was made must equal what is stored, left out and counted as lost, and
the recorder's memory must not grow. soak.py HEADWAY SOAK_PROGRAM, where SOAK_PROGRAM is headway_bench_soak."""
import argparse
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time


def query(trace, sql):
    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
        try:
            row = database.execute(sql).fetchone()
        except sqlite3.OperationalError:  # no such table: nothing of the kind
            return 0
    return int(row[0] or 0) if row else 0


def resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("headway")
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=200_000, help="records a second")
    parser.add_argument("--ring", action="store_true", help="store the last ten seconds only: for hours")
    parser.add_argument("--reader-every", type=float, default=10, help="seconds between two readers")
    a = parser.parse_args()
    records = a.rate * a.seconds
    memory = []
    readers = 0
    with tempfile.TemporaryDirectory(prefix="headway drill ") as folder:
        trace = pathlib.Path(folder) / "run.sqlite"
        recorder = subprocess.Popen([a.headway, "record", "--quiet", "-o", trace, *(["--ring", "10"] if a.ring else []), "--", a.program,
                                     "--produce", "2", str(a.rate), str(records)])
        begin = time.monotonic()
        next_reader = begin + min(a.reader_every, a.seconds / 3)
        while recorder.poll() is None:
            time.sleep(0.5)
            with contextlib.suppress(OSError):
                memory.append(resident_mb(recorder.pid))
            if time.monotonic() >= next_reader:
                next_reader += a.reader_every
                read = subprocess.run([a.headway, "stats", trace, "--sql", "SELECT count(*) FROM NVTX_EVENTS"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=300)
                readers += read.returncode == 0
        took = time.monotonic() - begin
        made = records // 2
        stored = query(trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59")
        left_out = query(trace, "SELECT value FROM HEADWAY_META WHERE name='scope.events_left_out'")
        lost = query(trace, "SELECT sum(count) FROM HEADWAY_LOSS WHERE severity='loss'")
        size = os.path.getsize(trace) / 1e6
    third = max(1, len(memory) // 3)
    # The first third is the filling of buffers and caches, and of the ring.
    middle, end = max(memory[third:2 * third], default=0), max(memory[2 * third:], default=0)
    print(f"{took:.0f} s, {made} ranges made = {stored} stored + {left_out} left out + {lost} lost; {size:.0f} MB; {readers} readers")
    print(f"recorder: {memory[0] if memory else 0:.0f} MB at the start, {middle:.0f} MB in the middle, {end:.0f} MB at the end")
    exact = made == stored + left_out + lost
    flat = end <= 1.2 * middle + 16
    if not exact:
        print("FAILED: the sum is wrong")
    if not flat:
        print("FAILED: memory grows")
    return 0 if exact and flat and recorder.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
