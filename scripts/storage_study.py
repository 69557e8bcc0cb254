#!/usr/bin/env python3
"""What storage does to a training run: a grid on the simulated GPU, tables beside the published figures, and for each run whether the
report's first finding is the one that the grid's own measurements call for.
- workers against images/s, small files on a network disk, until the GPU is busy (published: 100 → 300 images/s from 1 to 7 workers)
- size of shards against images/s, for each kind of storage, read whole or as a stream
- workers until memory runs out; shards of all ranks against own ones; pictures resized ahead
Usage: storage_study.py [--headway H] [--train T] [--json FILE] [--write-docs FILE] [--check]
(--write-docs replaces the section `storage-study`; --check: exit status 1 where a finding is wrong)"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

from sweep.measure import Refused, Tools
from validate_whatif import replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent
# ResNet-50 in FP32 on a V100: about 330 images/s where nothing waits for input.
WORKERS = ("model resnet depth 50 image_size 224 data generated-pictures samples 1000 gpu v100 batch 32 eval off steps 60 host_cores 32 prefetch 16 "
           "source files storage network-disk")
# A network so small that storage is what holds it back. Pictures decoded and resized ahead: 196 kB each, 25 MB a batch.
SHARDS = ("model resnet depth 8 width 8 image_size 224 data generated-pictures samples 1000 gpu a100 precision bf16 batch 128 eval off steps 160 "
          "host_cores 32 workers 8 prefetch 16 decode offline")
KINDS = ["nvme", "network-disk", "lustre", "object-store"]
SHARDS_MB = [1, 2, 4, 8, 16, 32, 64, 128]
CHECKED_MB = [1, 16, 128]
INPUT = {"slow-storage", "small-files", "workers-starved", "input-bound", "workers-oversubscribed"}
CLAIM = 0.05  # of the step
# What each finding is about, taken away: a storage without latency, one without limits of bandwidth, or four times the workers.
REMEDIES = {"small-files": "latency", "slow-storage": "bandwidth", "workers-starved": "workers"}


def settings(text, **more):
    words = text.split()
    return {**dict(zip(words[::2], words[1::2])), "device": "sim", **{name: str(value) for name, value in more.items()}}


class Study:
    def __init__(self, tools, folder):
        self.tools, self.trace, self.runs, self.checked = tools, os.path.join(folder, "run.sqlite"), {}, []

    def run(self, text, **more):
        """The run with its images/s and the report's findings about input; None where the trainer refuses it."""
        values = settings(text, **more)
        key = json.dumps(values, sort_keys=True)
        if key not in self.runs:
            try:
                _, step = self.tools.record(values, self.trace)
                report = self.tools.report(self.trace)
            except Refused as reason:
                self.runs[key] = {"values": values, "images_per_s": None, "refused": str(reason)}
                return self.runs[key]
            found = [one for one in report["findings"] if one["status"] == "found" and one["rule"] in INPUT and one["share_of_step"] >= CLAIM]
            images = int(values["batch"]) * int(values.get("ranks", 1))
            self.runs[key] = {"values": values, "images_per_s": images / step * 1e9, "step_ns": step, "rules": [one["rule"] for one in found],
                              "fix": next((fix["fix"] for one in found for fix in one["fixes"]), None)}
        return self.runs[key]

    def check(self, text, **more):
        """Whether the first finding about input is of what gains most when it is taken away, within 5 % of the step."""
        one = self.run(text, **more)
        if one["images_per_s"] is None or "gains" in one:
            return one
        taken_away = {"latency": {"storage_latency_ms": 0.001}, "bandwidth": {"storage_mb_per_s": 1000000},
                      "workers": {"workers": 4 * int(one["values"].get("workers", 1))}}
        cost = self.tools.step_costs_ns([{**one["values"], **{name: str(value) for name, value in change.items()}} for change in taken_away.values()])
        one["gains"] = {name: None if ns is None else 1 - ns / one["step_ns"] for name, ns in zip(taken_away, cost)}
        best = max(gain for gain in one["gains"].values() if gain is not None)
        first = one["rules"][0] if one["rules"] else None
        if first and first not in REMEDIES:
            one["right"] = "unspecific" if best >= CLAIM else "wrong"
        else:
            gained = one["gains"][REMEDIES[first]] if first else 0
            one["right"] = "right" if gained is not None and gained >= best - CLAIM else "wrong"
        self.checked.append(one)
        return one


def rate(one):
    return "–" if one["images_per_s"] is None else f"{one['images_per_s']:.0f}"


def finding(one):
    if "gains" not in one:
        return ""
    gains = ", ".join(f"{name} {gain:.0%}" for name, gain in one["gains"].items() if gain is not None)
    return f"{one['rules'][0] if one['rules'] else 'none'} ({'**wrong**' if one['right'] == 'wrong' else one['right']}: without {gains})"


def workers_table(study):
    lines = ["| workers | images/s | published | report's first finding about input |", "|---|---|---|---|"]
    for count, published in ((1, "100"), (2, ""), (3, ""), (5, ""), (7, "300"), (9, "")):
        one = study.check(WORKERS, workers=count)
        lines.append(f"| {count} | {rate(one)} | {published} | {finding(one)} |")
    return lines


def shards_table(study):
    lines = ["| storage | read | " + " | ".join(f"{size} MB" for size in SHARDS_MB) + " | best |", "|---|---|" + "---|" * (len(SHARDS_MB) + 1)]
    for kind in KINDS:
        for how in ("file", "stream"):
            row = [study.run(SHARDS, storage=kind, shard_mb=size, shard_read=how) for size in SHARDS_MB]
            best = max(range(len(row)), key=lambda i: row[i]["images_per_s"])
            lines.append(f"| {kind} | {how} | " + " | ".join(map(rate, row)) + f" | {SHARDS_MB[best]} MB |")
    return lines


def findings_table(study):
    lines = ["| storage | read | " + " | ".join(f"{size} MB" for size in CHECKED_MB) + " |", "|---|---|" + "---|" * len(CHECKED_MB)]
    for kind in KINDS:
        for how in ("file", "stream"):
            lines.append(f"| {kind} | {how} | " + " | ".join(finding(study.check(SHARDS, storage=kind, shard_mb=size, shard_read=how)) for size in CHECKED_MB) + " |")
    return lines


def memory_table(study):
    lines = ["| shards | read | " + " | ".join(f"{count} workers" for count in (8, 16, 32, 64)) + " |", "|---|---|" + "---|" * 4]
    for size in (16, 128):
        for how in ("file", "stream"):
            row = [study.run(SHARDS, storage="object-store", shard_mb=size, shard_read=how, workers=count, host_memory_gb=6) for count in (8, 16, 32, 64)]
            lines.append(f"| {size} MB | {how} | " + " | ".join("out of memory" if one["images_per_s"] is None else rate(one) for one in row) + " |")
    return lines


def others_table(study):
    nodes = {"ranks": 4, "ranks_per_node": 1, "shard_mb": 16, "storage": "lustre"}
    rows = [("four nodes, each reads all shards", study.check(SHARDS, **nodes, shard_split="off")), ("four nodes, each its own shards", study.check(SHARDS, **nodes)),
            ("network disk, small files", study.check(WORKERS, workers=4)), ("network disk, shards of JPEG", study.check(WORKERS, workers=4, source="shards", shard_mb=16)),
            ("network disk, shards of pictures resized and decoded ahead", study.check(WORKERS, workers=4, source="shards", decode="offline", shard_mb=16))]
    return ["| run | images/s | report's first finding about input |", "|---|---|---|", *(f"| {name} | {rate(one)} | {finding(one)} |" for name, one in rows)]


def text_of(study):
    parts = [("Workers, small files on a network disk, ResNet-50 on a V100", workers_table), ("Size of shards, images/s, eight workers", shards_table),
             ("What the report says of them first", findings_table), ("Workers until 6 GB are full, object store, images/s", memory_table),
             ("Nodes, and pictures resized ahead", others_table)]
    lines = []
    for title, table in parts:
        lines += [f"**{title}**", "", *table(study), ""]
    right, unspecific, wrong = (sum(one["right"] == what for one in study.checked) for what in ("right", "unspecific", "wrong"))
    return "\n".join([*lines, f"Of {len(study.checked)} runs the first finding about input is right in {right}, says only that input is late in {unspecific}, "
                      f"and is wrong in {wrong}.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headway", type=pathlib.Path, default=ROOT / "build/release/bin/headway")
    parser.add_argument("--train", type=pathlib.Path, default=ROOT / "build/release/bin/headway-train")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headway storage ") as folder:
        study = Study(Tools(given.headway, given.train, "sim"), folder)
        text = text_of(study)
    print(text, end="")
    if given.json:
        given.json.write_text(json.dumps({"runs": list(study.runs.values())}, indent=1, ensure_ascii=False) + "\n")
    if given.write_docs:
        replace_section(given.write_docs, "storage-study", text)
    sys.exit(given.check and any(one["right"] == "wrong" for one in study.checked))


if __name__ == "__main__":
    main()
