#!/usr/bin/env python3
"""File sizes against the convention of docs/contributing.md: no source file over 800 lines; prints median and p95."""
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 800
SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".cmake"}

names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
sizes = {n: len((ROOT / n).read_text(errors="replace").splitlines())
         for n in names if pathlib.Path(n).suffix in SUFFIXES and (ROOT / n).is_file()}
too_long = {n: s for n, s in sizes.items() if s > LIMIT}
for name, size in sorted(too_long.items()):
    print(f"{name}: {size} lines, over {LIMIT}")
ordered = sorted(sizes.values())
print(f"sizes: {len(sizes)} files, median {statistics.median(ordered):.0f}, p95 {ordered[int(len(ordered) * 0.95)]}, {len(too_long)} over {LIMIT}")
sys.exit(1 if too_long or not sizes else 0)
