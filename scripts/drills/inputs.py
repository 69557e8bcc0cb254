#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives `headway` changed copies of sound inputs: cells of SQLite traces changed by SQL, and bytes of every kind of file that it
reads. No command may end by a signal, with an internal error (exit code 4), after more than --timeout seconds, with more than
--memory-mb of memory, or with JSON that is none. Prints what makes and what fails each finding; exit status 1 when there is one.
A case is its seed and number: `--first N --cases 1` repeats it."""
import argparse
import gzip
import json
import os
import pathlib
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile

NUMBERS = [-(2**63), -(2**62), -(2**31), -(10**12), -1000, -2, -1, 0, 1, 2, 3, 7, 8, 9, 10, 33, 34, 59, 60, 75, 200, 255, 256, 65535, 65536,
           999999, 2**24, 2**26 - 1, 2**26, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 10**12, 2**40, 2**53, 2**62, 2**63 - 1]
REALS = [0.5, -1.5, 1e300, -1e300, 9e18, 1e-300]
TEXTS = ["", "?", "%s%n", "\n", "<script>", "=1+1", "x" * 70000, "\u202e\u2028", "[[1,", "{}", "1e400", "nan", "-1", "9" * 20]
TABLES = """findings doubts partition steps op-types ops layers kernels kernel-families launches copies copy-sizes collective-sums calls
ranges range-device loaders io io-files io-threads devices critical-path path-kinds slack ranks collectives processes counters losses""".split()
OF_TRACE = [["report"], ["report", "--full", "--rows", "0"], ["report", "--json"], ["report", "-o", "OUT.html"], ["report", "-o", "OUT.sarif"],
            ["stats", "--json"], ["stats", "TABLE", "--rows", "0"], ["stats", "--all", "-o", "OUT"], ["whatif"], ["check", "--list"],
            ["diff", "ORIGINAL"], ["export", "--format", "chrome", "-o", "OUT.json"], ["export", "--format", "csv", "-o", "OUT"],
            ["import", "-o", "OUT.sqlite"]]
SOUND = (0, 1, 3)  # done, over a budget, refused with a sentence


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else repr(value)


def any_value(rng):
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(NUMBERS)
    if kind < 0.7:
        return rng.randrange(-(2**63), 2**63)
    if kind < 0.78:
        return None
    if kind < 0.84:
        return rng.choice(REALS)
    return rng.choice(TEXTS) if kind < 0.94 else rng.randbytes(rng.choice([0, 1, 8, 40]))


def change_of_cells(rng, database):
    """A statement that changes some cells or rows of a table; None where there are none."""
    tables = [name for (name, ) in database.execute("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'")]
    name = rng.choice(sorted(tables))
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({quote(name)})")]
    rows = database.execute(f"SELECT count(*) FROM {quote(name)}").fetchone()[0]
    if rows == 0:
        return None
    table, column = quote(name), quote(rng.choice(columns))
    one = f"rowid=(SELECT rowid FROM {table} LIMIT 1 OFFSET {rng.randrange(rows)})"
    where = rng.choice([one] * 4 + [f"rowid%{rng.choice([2, 7, 50])}=0", "1"])
    kind = rng.random()
    if kind < 0.7:
        return f"UPDATE OR IGNORE {table} SET {column}={literal(any_value(rng))} WHERE {where}"
    if kind < 0.85:
        by = rng.choice(["-1*{0}", "{0}+1", "{0}*1000", "{0}-100000000", "{0}+4294967296", "{0}%7", "'' || {0}"]).format(column)
        return f"UPDATE OR IGNORE {table} SET {column}={by} WHERE {where}"
    if kind < 0.93:
        return f"DELETE FROM {table} WHERE {where}"
    if kind < 0.97:
        return f"UPDATE OR IGNORE {table} SET {column}={quote(rng.choice(columns))} WHERE {where}"
    names = ",".join(map(quote, columns))
    return f"INSERT OR IGNORE INTO {table}({names}) SELECT {names} FROM {table} WHERE {where} LIMIT 1000"


def change_cells(rng, original, copy):
    shutil.copy(original, copy)
    copy.chmod(0o600)
    done = []
    database = sqlite3.connect(copy)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        sql = change_of_cells(rng, database)
        try:
            if sql:
                database.execute(sql)
                done.append(sql)
        except (sqlite3.Error, OverflowError):
            pass  # the tables do not allow it
    database.commit()
    database.close()
    return ";\n  ".join(text[:300] for text in done)


def change_bytes(rng, original, copy):
    content = bytearray(original.read_bytes())
    done = []
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(content) + 1)
        kind = rng.choice(["flip", "number", "cut", "repeat", "insert", "swap"])
        done.append(f"{kind}@{at}")
        if kind == "flip" and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        elif kind == "number":
            content[at:at + 8] = rng.choice(NUMBERS).to_bytes(8, rng.choice(["big", "little"]), signed=True) \
                if rng.random() < 0.5 else str(rng.choice(NUMBERS + REALS + ["1e400", "null", "[", "{", '"'])).encode()
        elif kind == "cut":
            del content[at:at + rng.choice([1, 10, 1000, len(content)])]
        elif kind == "repeat":
            content[at:at] = content[at:at + rng.choice([1, 20, 400])] * rng.choice([1, 2, 50])
        elif kind == "insert":
            content[at:at] = rng.choice([b"[" * 5000, b"{\"a\":" * 3000, b"\xff\xfe", b"\0" * 64, b"a." * 4000, rng.randbytes(30)])
        elif len(content) > 64:
            other = rng.randrange(len(content) - 32)
            content[at:at + 32] = content[other:other + 32]
    copy.write_bytes(content)
    return " ".join(done)


class Drill:

    def __init__(self, arguments, folder):
        self.a = arguments
        self.folder = folder
        self.make_seeds()

    def run_tool(self, *words):
        subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make_seeds(self):
        """self.seeds: (file, commands), commands with the words IN, OUT, ORIGINAL, TABLE."""
        f = self.folder
        sim = ["--device", "sim", "--eval", "off", "--quiet", "--steps", "5"]
        self.run_tool(self.a.train, *sim, "--depth", "8", "--batch", "8", "--trace", f / "vision.sqlite")
        self.run_tool(self.a.train, *sim, "--model", "transformer", "--layers", "1", "--batch", "2", "--ranks", "2", "--trace", f / "r%r.sqlite")
        self.run_tool(self.a.train, *sim, "--depth", "8", "--batch", "8", "--calibration", f / "calibration.json")
        subprocess.run([self.a.headway, "check", f / "vision.sqlite", "--init", "--budget", f / "budget.toml"], check=True, capture_output=True)
        self.traces = [f / "vision.sqlite", f / "r0.sqlite"] + [pathlib.Path(t) for t in self.a.traces]
        of_trace = [[c[0], "IN", *c[1:]] for c in OF_TRACE]
        self.seeds = [(t, of_trace) for t in self.traces]
        self.run_tool(self.a.headway, "export", f / "r0.sqlite", "--format", "chrome", "-o", f / "events.json")
        text = (f / "events.json").read_bytes()
        (f / "events.json.gz").write_bytes(gzip.compress(text))
        with zipfile.ZipFile(f / "events.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", text)
        self.seeds += [(f / name, of_trace) for name in ("events.json", "events.json.gz", "events.zip")]
        self.seeds.append((f / "calibration.json", [["whatif", f / "vision.sqlite", "--calibration", "IN"]]))
        self.seeds.append((f / "budget.toml", [["check", f / "vision.sqlite", "--budget", "IN"]]))

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (self.a.memory_mb << 20, ) * 2)

    def run(self, line):
        """What is wrong, "" when nothing is; the exit code."""
        try:
            done = subprocess.run([self.a.headway, *line], capture_output=True, timeout=self.a.timeout,
                                  preexec_fn=None if self.a.memory_mb == 0 else self.limit, env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            return f"more than {self.a.timeout} s", "hang"
        said = done.stderr.decode(errors="replace")[:800]
        # A sanitizer ends the program with 1, which is also the code of a run over its budget.
        if b"Sanitizer" in done.stderr or b": runtime error: " in done.stderr:
            return f"sanitizer, exit status {done.returncode}: {said}", "sanitizer"
        if done.returncode not in SOUND:
            return f"exit status {done.returncode}: {said}", done.returncode
        if done.returncode == 3 and not said.startswith("headway: "):
            return f"refused without a sentence: {said}", 3
        if "--json" in line and done.returncode == 0:
            try:
                json.loads(done.stdout)
            except ValueError as error:
                return f"its JSON is none: {error}", 0
        return "", done.returncode

    def one(self, number):
        rng = random.Random(f"{self.a.seed}/{self.a.kind}/{number}")
        cells = self.a.kind == "cells" or (self.a.kind == "all" and rng.random() < 0.5)
        original, commands = rng.choice(self.seeds[:len(self.traces)] if cells else self.seeds)
        changed = self.folder / f"changed{''.join(original.suffixes[-2:])}"
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(f"{changed}{suffix}").unlink(missing_ok=True)
        how = (change_cells if cells else change_bytes)(rng, original, changed)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        words = {"IN": str(changed), "ORIGINAL": str(original), "TABLE": rng.choice(TABLES)}
        line = [words.get(str(w), str(w).replace("OUT", str(out / "x"))) for w in rng.choice(commands)]
        wrong, code = self.run(line)
        if wrong:
            kept = ""
            if self.a.keep:
                kept = pathlib.Path(self.a.keep) / f"{self.a.seed}-{number}-{changed.name}"
                shutil.copy(changed, kept)
            print(f"FINDING {number} {original.name} {kept}\n  {how}\n  headway {' '.join(line)}\n  {wrong.strip()}", flush=True)
        return code, bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headway", required=True)
    parser.add_argument("--train", required=True, help="headway-train, which makes the sound inputs")
    parser.add_argument("--kind", choices=["cells", "bytes", "all"], default="all")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--memory-mb", type=int, default=2048, help="0: no limit, which sanitizers need")
    parser.add_argument("--keep", help="folder for the inputs of findings")
    parser.add_argument("traces", nargs="*", help="more sound traces (SQLite)")
    arguments = parser.parse_args()
    codes = {}
    findings = 0
    with tempfile.TemporaryDirectory(prefix="headway drill ") as folder:
        drill = Drill(arguments, pathlib.Path(folder))
        number = arguments.first
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end and number < arguments.first + arguments.cases:
            code, wrong = drill.one(number)
            codes[str(code)] = codes.get(str(code), 0) + 1
            findings += wrong
            number += 1
    print(f"{sum(codes.values())} inputs, {findings} findings; by exit status: {dict(sorted(codes.items()))}")
    return 1 if findings or not codes else 0


if __name__ == "__main__":
    sys.exit(main())
