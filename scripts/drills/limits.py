#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorder, and not the program, under hard limits: a memory group of 20 and 40 MB, 5 % of a processor, a disk of 64 kB. The program must
end as it does alone, and what is not in the trace must be said. Needs root and writable control groups (version 1 or 2); what it
cannot make it skips. limits.py HEADWAY TARGET, where TARGET is tests/targets/steps."""
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HEADWAY, TARGET = [str(pathlib.Path(word).resolve()) for word in sys.argv[1:3]]
GROUPS = pathlib.Path("/sys/fs/cgroup")
STEPS = 500
PROGRAM = [TARGET, str(STEPS), "1000"]


@contextlib.contextmanager
def group(controller, settings):
    """A control group with these settings, and the one to go back to; None where none can be made."""
    one = (GROUPS / controller).is_dir()
    home = GROUPS / controller if one else GROUPS
    folder = home / f"headway-drill-{os.getpid()}"
    try:
        if not one:
            (home / "cgroup.subtree_control").write_text(f"+{controller}")
        folder.mkdir()
        for name, value in settings["v1" if one else "v2"].items():
            (folder / name).write_text(value)
    except OSError as error:
        print(f"[skipped] {controller}: {error}")
        yield None, None
        return
    try:
        yield folder, home
    finally:
        folder.rmdir()


def rows(trace):
    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE value='step'").fetchone()[0]


def record(trace, enter="", leave=""):
    """`headway record` in the group `enter`, the program in the group `leave`."""
    inner = f"echo $$ >'{leave}/cgroup.procs'; exec \"$@\"" if leave else 'exec "$@"'
    outer = f"echo $$ >'{enter}/cgroup.procs'; exec \"$@\"" if enter else 'exec "$@"'
    return subprocess.run(["sh", "-c", outer, "sh", HEADWAY, "record", "-o", trace, "--", "sh", "-c", inner, "sh", *PROGRAM],
                          capture_output=True, text=True, timeout=300)


def main():
    if os.geteuid() != 0:
        print("[skipped]: needs root for control groups and mounts")
        return 0
    alone = subprocess.run(PROGRAM, capture_output=True, timeout=300).returncode
    failed = 0

    def check(what, done, trace):
        nonlocal failed
        whole = trace.exists() and rows(trace) == STEPS
        said = "nothing was lost" not in done.stderr and "headway: " in done.stderr
        good = done.returncode == alone and (whole or said)
        failed += not good
        print(f"{'ok' if good else 'FAILED'}: {what}: exit status {done.returncode}, {'whole' if whole else 'not whole'}")
        if not good:
            print(done.stderr)

    with tempfile.TemporaryDirectory(prefix="headway drill ") as name:
        trace = pathlib.Path(name) / "run.sqlite"
        for megabytes in ("20", "40"):
            limit = {"v1": {"memory.limit_in_bytes": f"{megabytes}M"}, "v2": {"memory.max": f"{megabytes}M"}}
            with group("memory", limit) as (folder, home):
                if folder:
                    check(f"{megabytes} MB of memory", record(trace, folder, home), trace)
            trace.unlink(missing_ok=True)
        with group("cpu", {"v1": {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"}, "v2": {"cpu.max": "5000 100000"}}) as (folder, home):
            if folder:
                check("5 % of a processor", record(trace, folder, home), trace)
        # A disk that is too small for any trace: the program is not started, and that is said.
        script = 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"'
        small = pathlib.Path(name) / "small"
        small.mkdir()
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", small, HEADWAY, "record", "-o", small / "run.sqlite", "--", *PROGRAM],
                              capture_output=True, text=True, timeout=300)
        good = done.returncode == alone or (done.returncode == 4 and "headway: " in done.stderr)
        failed += not good
        print(f"{'ok' if good else 'FAILED'}: 64 kB of disk: exit status {done.returncode}: {done.stderr.strip()[:300]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
