#!/usr/bin/env python3
"""For every switch of headway-train that has a bad and a good value: short runs of both in turns (A B B A ...), the median step of
each run, and the gain with a 95 % bootstrap interval over the pairs of neighbouring runs. Writes JSON and Markdown.
On a GPU, cases of what only the host device emulates are left out.
Usage: ab_matrix.py BIN_FOLDER [--device host|cuda] [--blocks N] [--steps N] [--only NAME ...] [--json FILE] [--markdown FILE] [--list]"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

IMAGES = ["--model", "resnet", "--batch", "16", "--samples", "2000", "--launch-us", "5"]
TEXT = ["--model", "transformer", "--data", "generated", "--layers", "2", "--features", "128", "--batch", "8", "--sequence", "128", "--launch-us", "5"]
BOXES = ["--model", "ssd", "--data", "generated", "--samples", "500", "--image-size", "32", "--depth", "8", "--width", "8", "--decode", "offline",
         "--augment", "off", "--prefetch", "32"]
SLOW_DISK = ["--source", "files", "--storage-latency-ms", "3", "--storage-mb-per-s", "50", "--workers", "1"]
# Kernels bounded by the memory of a GPU in proportion to its arithmetic, as the preset `unfused` has it.
GPU_MEMORY = ["--memory-gb-per-s", "6", "--launch-us", "2"]

RANKS = ["--model", "resnet", "--batch", "8", "--samples", "2000", "--threads", "1", "--ranks", "2"]

SERVED = ["--mode", "infer", "--train-steps", "0", "--model", "resnet", "--batch", "32", "--samples", "2000", "--source", "memory", "--augment", "off"]

# name: (setting of both sides, the bad value, the good value)
CASES = {
    "workers": (IMAGES + SLOW_DISK, ["--workers", "1"], ["--workers", "4"]),
    "prefetch": (IMAGES + ["--source", "files", "--storage-latency-ms", "1", "--workers", "2"], ["--prefetch", "1"], ["--prefetch", "4"]),
    "source": (IMAGES + ["--storage-latency-ms", "3", "--storage-mb-per-s", "50"], ["--source", "files"], ["--source", "shards"]),
    "decode": (IMAGES + ["--depth", "8", "--width", "8", "--batch", "32", "--data", "generated-pictures", "--image-size", "32", "--samples", "500", "--source", "shards", "--workers", "1"],
               ["--decode", "step"], ["--decode", "offline"]),
    # A quarter of the bytes cross the link; the arithmetic is the same on the same processor.
    "augment_on": (IMAGES + ["--h2d", "async", "--link-mb-per-s", "2"], ["--augment-on", "workers"], ["--augment-on", "device"]),
    # Bound by launches, which a copy from pageable memory keeps waiting; copies of 64 KiB and less are staged at once, as CUDA's are.
    "pinned": (IMAGES + ["--depth", "8", "--width", "8", "--batch", "32", "--h2d", "async", "--link-mb-per-s", "50", "--launch-us", "150"], ["--pinned", "off"], ["--pinned", "on"]),
    "h2d": (IMAGES + ["--link-mb-per-s", "2"], ["--h2d", "async"], ["--h2d", "prefetch"]),
    "sync": (IMAGES + ["--batch", "1", "--launch-us", "8"], ["--sync", "op"], ["--sync", "never"]),
    "loss_read": (IMAGES + ["--batch", "1", "--launch-us", "20"], ["--loss-read", "step"], ["--loss-read", "deferred"]),
    "launch_us": (IMAGES + ["--batch", "1", "--width", "8"], ["--launch-us", "60"], ["--launch-us", "5"]),
    "allocator": (IMAGES, ["--allocator", "raw"], ["--allocator", "caching"]),
    "fused_bn": (IMAGES + GPU_MEMORY, ["--fused-bn", "off"], ["--fused-bn", "on"]),
    "fused_optimizer sgd": (IMAGES + GPU_MEMORY + ["--batch", "2"], ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"]),
    "fused_optimizer adam": (TEXT + GPU_MEMORY + ["--batch", "1"], ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"]),
    "fused_ln": (TEXT + ["--graph-compiler", "off"], ["--fused-ln", "off"], ["--fused-ln", "on"]),
    "fused_attention": (TEXT, ["--fused-attention", "off"], ["--fused-attention", "on"]),
    "fused_attention windows": (TEXT + ["--window", "32"], ["--fused-attention", "off"], ["--fused-attention", "on"]),
    "fused_bias_act": (TEXT + ["--graph-compiler", "off"], ["--fused-bias-act", "off"], ["--fused-bias-act", "on"]),
    "fused_loss": (TEXT + ["--layers", "1", "--features", "64"] + GPU_MEMORY, ["--fused-loss", "off"], ["--fused-loss", "on"]),
    # Convolutions bound by memory, as on tensor cores: on NCHW the processor's own are slower for another reason.
    "layout": (IMAGES + ["--batch", "4", "--memory-gb-per-s", "0.5"], ["--layout", "nchw"], ["--layout", "nhwc"]),
    "overlap": (RANKS + ["--network-gb-per-s", "0.01", "--ranks-per-node", "1", "--bucket-mb", "0.25", "--first-bucket-mb", "0.1"], ["--overlap", "off"], ["--overlap", "on"]),
    "bucket_mb": (RANKS + ["--network-us", "1000", "--ranks-per-node", "1", "--first-bucket-mb", "0"], ["--bucket-mb", "0"], ["--bucket-mb", "25"]),
    "compress": (RANKS + ["--network-gb-per-s", "0.01", "--ranks-per-node", "1"], ["--compress", "none"], ["--compress", "fp16"]),
    "topology": (RANKS + ["--ranks", "4", "--ranks-per-node", "2", "--network-gb-per-s", "0.01"], ["--topology", "flat"], ["--topology", "hierarchical"]),
    "balance": (["--model", "gnmt", "--layers", "2", "--features", "64", "--batch", "16"], ["--balance", "random"], ["--balance", "sorted"]),
    "assign": (BOXES + ["--batch", "32", "--launch-us", "60"], ["--assign", "per-sample"], ["--assign", "batched"]),
    "assign simota": (BOXES + ["--batch", "32", "--launch-us", "60", "--matching", "simota"], ["--assign", "per-sample"], ["--assign", "batched"]),
    "coords": (BOXES + ["--batch", "4", "--link-mb-per-s", "20"], ["--coords", "host-round-trip"], ["--coords", "device"]),
    "infer_precision": (SERVED, ["--infer-precision", "fp32"], ["--infer-precision", "int8"]),
    "fold_bn": (SERVED, ["--fold-bn", "off", "--fused-epilogue", "off"], ["--fold-bn", "on", "--fused-epilogue", "on"]),
    "graph_compiler": (TEXT + GPU_MEMORY + ["--fused-ln", "off", "--fused-bias-act", "off"], ["--graph-compiler", "off"], ["--graph-compiler", "on"]),
}


# What only the host device emulates: a case that has it on both sides would measure nothing of the GPU.
EMULATED = {"--link-mb-per-s", "--memory-gb-per-s"}
# On a GPU instead of those, where the GPU itself is the truth; and cases that only it has.
GPT = ["--model", "transformer", "--data", "generated", "--layers", "6", "--features", "768", "--heads", "12", "--sequence", "512", "--batch", "8", "--precision", "bf16"]
LARGE_IMAGES = ["--model", "resnet", "--depth", "50", "--width", "16", "--data", "generated", "--source", "memory", "--batch", "128", "--workers", "4",
                "--precision", "amp-o2"]
PICTURES = ["--model", "resnet", "--depth", "50", "--width", "16", "--data", "generated-pictures", "--image-size", "224", "--samples", "2000", "--batch", "128",
            "--workers", "8", "--precision", "amp-o2"]
GPU_CASES = {
    "augment_on": (PICTURES, ["--augment-on", "workers"], ["--augment-on", "device"]),
    "decode on the device": (PICTURES + ["--augment-on", "device"], ["--decode", "step"], ["--decode", "device"]),
    "precision bf16": (GPT, ["--precision", "fp32"], ["--precision", "bf16"]),
    "precision tf32": (GPT, ["--precision", "fp32"], ["--precision", "tf32"]),
    "cuda_graph": (GPT + ["--batch", "1", "--sequence", "128"], ["--cuda-graph", "off"], ["--cuda-graph", "on"]),
    "h2d": (LARGE_IMAGES, ["--h2d", "blocking"], ["--h2d", "prefetch"]),
    "pinned": (LARGE_IMAGES + ["--h2d", "async"], ["--pinned", "off"], ["--pinned", "on"]),
    "fused_bn": (LARGE_IMAGES, ["--fused-bn", "off"], ["--fused-bn", "on"]),
    "fused_optimizer adam": (GPT, ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"]),
    "fused_ln": (GPT + ["--graph-compiler", "off"], ["--fused-ln", "off"], ["--fused-ln", "on"]),
    "fused_attention": (GPT, ["--fused-attention", "off"], ["--fused-attention", "on"]),
    "fused_attention windows": (GPT + ["--window", "64"], ["--fused-attention", "off"], ["--fused-attention", "on"]),
    "fused_bias_act": (GPT + ["--graph-compiler", "off"], ["--fused-bias-act", "off"], ["--fused-bias-act", "on"]),
    "fused_loss": (GPT, ["--fused-loss", "off"], ["--fused-loss", "on"]),
    "graph_compiler": (GPT + ["--fused-ln", "off", "--fused-bias-act", "off"], ["--graph-compiler", "off"], ["--graph-compiler", "on"]),
    "layout": (LARGE_IMAGES, ["--layout", "nchw"], ["--layout", "nhwc"]),
    "rnn": (["--model", "gnmt", "--data", "generated", "--features", "512", "--batch", "16"], ["--rnn", "standard"], ["--rnn", "persistent"]),
}


def cases_of(device):
    if device == "host":
        return CASES
    real = {name: case for name, case in CASES.items() if not EMULATED & set(sum(case, []))}
    return {name: (["--device", "cuda", *common], bad, good) for name, (common, bad, good) in {**real, **GPU_CASES}.items()}


def step_ms(program, arguments, steps, folder):
    metrics = folder / "metrics.json"
    command = [str(program), *arguments, "--steps", str(steps), "--eval", "off", "--quiet", "--metrics", str(metrics)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with status {result.returncode}: {result.stderr.strip()}")
    return 1e3 * json.loads(metrics.read_text())["median_step_s"]


def interval(pairs, draws=4000):
    """95 % bootstrap interval of the median ratio bad / good."""
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(pairs, k=len(pairs))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def measure(program, name, case, blocks, steps, folder):
    common, bad, good = case
    times = {"bad": [], "good": []}
    for block in range(blocks):
        order = ["bad", "good"] if block % 2 == 0 else ["good", "bad"]
        for side in order:
            times[side].append(step_ms(program, common + (bad if side == "bad" else good), steps, folder))
    ratios = [b / g for b, g in zip(times["bad"], times["good"])]
    low, high = interval(ratios)
    return {"name": name, "bad": " ".join(bad), "good": " ".join(good), "common": " ".join(common),
            "bad_ms": statistics.median(times["bad"]), "good_ms": statistics.median(times["good"]),
            "gain": statistics.median(ratios), "low": low, "high": high, "blocks": times}


def markdown(rows):
    lines = ["| switch | bad | good | step, bad | step, good | gain | 95 % interval |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        sure = "" if r["low"] > 1 else " (not shown)"
        lines.append(f"| {r['name']} | `{r['bad']}` | `{r['good']}` | {r['bad_ms']:.2f} ms | {r['good_ms']:.2f} ms | "
                     f"{r['gain']:.2f} x{sure} | {r['low']:.2f} to {r['high']:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path, help="folder with headway-train")
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--blocks", type=int, default=8, help="runs of each side")
    parser.add_argument("--steps", type=int, default=40, help="steps of a run")
    parser.add_argument("--only", nargs="*", default=[], help="these cases")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    options = parser.parse_args()
    cases = cases_of(options.device)
    if options.list:
        print("\n".join(cases))
        return
    unknown = [name for name in options.only if name not in cases]
    if unknown:
        parser.error(f"no case '{unknown[0]}'; --list names them")
    program = options.bin / "headway-train"
    if not program.exists():
        parser.error(f"{program}: not there; build headway-train first")
    rows = []
    with tempfile.TemporaryDirectory(prefix="headway ab ") as folder:
        for name in options.only or cases:
            start = time.monotonic()
            rows.append(measure(program, name, cases[name], options.blocks, options.steps, pathlib.Path(folder)))
            print(f"{name}: {rows[-1]['gain']:.2f} x ({rows[-1]['low']:.2f} to {rows[-1]['high']:.2f}), "
                  f"{time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    text = markdown(rows)
    if options.json:
        options.json.write_text(json.dumps({"schema_version": 1, "steps": options.steps, "cases": rows}, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
