#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs a training run: the same run plain and under `headway record`, in turns, so that what else the machine does
falls on both. Usage: recording_bench.py BIN_FOLDER [--quick] [--pairs N] [--preset NAME]"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile


def images_per_second(command, metrics):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(metrics.read_text())["images_per_s"]


def interval_of_median(values, level=0.95, draws=4000):
    """(low, high) of the median by the percentile bootstrap; a fixed seed, so that the same figures give the same interval."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(draws))
    tail = (1 - level) / 2
    return medians[int(tail * draws)], medians[int((1 - tail) * draws) - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="one pair of short runs")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--preset", default="healthy")
    options = parser.parse_args()
    pairs, steps = (1, 10) if options.quick else (options.pairs, 80)
    plain, recorded = [], []
    with tempfile.TemporaryDirectory(prefix="headway bench ") as name:
        folder = pathlib.Path(name)
        metrics = folder / "metrics.json"
        train = [options.bin / "headway-train", "--preset", options.preset, "--steps", str(steps), "--eval", "off", "--quiet",
                 "--metrics", metrics]
        record = [options.bin / "headway", "record", "--quiet", "--force", "-o", folder / "run.sqlite", "--", *train]
        for pair in range(pairs):
            # The order alternates too: the first of two runs is not always the one on the warmer machine.
            for which in ((plain, train), (recorded, record))[:: 1 if pair % 2 == 0 else -1]:
                which[0].append(images_per_second(which[1], metrics))
    ratios = [p / r for p, r in zip(plain, recorded)]
    print(f"images_per_second_plain: {statistics.median(plain):.1f} images/s")
    print(f"images_per_second_recorded: {statistics.median(recorded):.1f} images/s")
    print(f"slow_down_of_medians: {statistics.median(plain) / statistics.median(recorded):.4f} ratio")
    # What else the machine does only slows down, so the best of many runs are the least disturbed.
    print(f"slow_down_of_best: {max(plain) / max(recorded):.4f} ratio")
    print(f"slow_down_median_of_pairs: {statistics.median(ratios):.4f} ratio")
    low, high = interval_of_median(ratios)
    print(f"slow_down_median_of_pairs_interval_95: {low:.4f} to {high:.4f} ratio")
    print(f"slow_down_smallest_pair: {min(ratios):.4f} ratio")
    print(f"slow_down_largest_pair: {max(ratios):.4f} ratio")


if __name__ == "__main__":
    main()
