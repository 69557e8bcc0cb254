#!/usr/bin/env python3
"""Makes the table of docs/user-guide/systems.md. Each row is a system: a technique that a switch of headway-train turns on or off.
The columns are its switch, the devices that support it, the rule that finds it missing, its gain on the simulated GPU and on the host
(measured and predicted), and published gains. Simulated runs are made here, with the code of validate_whatif.py. Figures of the host
were measured on an idle machine: they come from docs/accuracy.md, where validate_whatif.py wrote them, and from ab_matrix.py
(--ab-matrix FILE). Where a figure is missing, the cell says why. --markdown FILE replaces the table in FILE.
Usage: systems_table.py BIN_FOLDER [--only TEXT] [--ab-matrix JSON] [--markdown FILE]"""
import argparse
import json
import pathlib
import re
import sys
import tempfile

from validate_whatif import BOXES, FAST, HOST, LARGE, RANKS, SERVED, SIM, TEXT, TINY_TEXT, Runs, replace_section, validate

ALL = "host, cuda, sim"
SIM_ONLY = "sim"
PARALLEL = ["--model", "transformer", "--data", "generated", "--eval", "off", "--layers", "12", "--features", "1024", "--heads", "16", "--sequence", "128"]
SENTENCES = ["--model", "gnmt", "--data", "generated", "--eval", "off", "--layers", "2", "--features", "1024", "--sequence", "512", "--precision", "bf16", "--gpu",
             "a100"]
GNMT = [*SENTENCES, "--batch", "4", "--ranks", "4"]
NONE = "no figure was found"
HALVES = [*TEXT, "--features", "512", "--heads", "8"]
# Gradients take ten times as long as computing.
SLOW_LINKS = [*HALVES, "--ranks", "8", "--ranks-per-node", "1", "--network-gb-per-s", "1"]

# Cases that validate_whatif.py does not have. name: (setting of both sides, bad value, good value, fix).
MORE = {
    "one step ahead": ([*TEXT, "--batch", "8", "--sequence", "128", "--launch-us", "6"], ["--run-ahead", "1"], ["--run-ahead", "2"], "run-ahead"),
    "more batches ahead": ([*FAST, "--steps", "200", "--workers", "4", "--source", "files", "--storage-latency-ms", "0.2", "--jitter", "0.3"], ["--prefetch", "1"],
                           ["--prefetch", "5"], "deeper-prefetch"),
    "samples in memory": ([*FAST, "--workers", "2", "--augment", "off", "--storage-latency-ms", "2"], ["--source", "shards"], ["--source", "memory"], "samples-in-memory"),
    "pauses": ([*LARGE, "--workers", "16"], ["--pause-every", "7", "--pause-ms", "300"], ["--pause-every", "0"], "no-pauses"),
    "16 bits": (HALVES, ["--precision", "fp32"], ["--precision", "bf16"], "half-precision"),
    "casts": (HALVES, ["--precision", "amp-o1"], ["--precision", "bf16"], "half-throughout"),
    "loss scaling": ([*TINY_TEXT, "--fused-optimizer", "off"], ["--precision", "amp-o2"], ["--precision", "bf16"], "no-loss-scaling"),
    "layer norm": ([*TEXT, "--graph-compiler", "off"], ["--fused-ln", "off"], ["--fused-ln", "on"], "fuse-chains"),
    "bias and activation": ([*TEXT, "--graph-compiler", "off"], ["--fused-bias-act", "off"], ["--fused-bias-act", "on"], "fuse-chains"),
    "loss": ([*TEXT, "--layers", "1", "--features", "64", "--graph-compiler", "off"], ["--fused-loss", "off"], ["--fused-loss", "on"], "fuse-chains"),
    "unaligned features": ([*TEXT, "--layers", "4", "--heads", "2", "--sequence", "512", "--precision", "bf16", "--gpu", "a100"], ["--features", "1018"], ["--features", "1024"], "pad-shapes"),
    "split sums": ([*PARALLEL, "--layers", "4", "--batch", "1", "--gpu", "a100"], ["--split-k", "off"], ["--split-k", "on"], "split-k"),
    "SimOTA one by one": ([*BOXES, "--matching", "simota"], ["--assign", "per-sample"], ["--assign", "batched"], "batch-samples"),
    "sentences of any length": (GNMT, ["--balance", "random"], ["--balance", "sorted"], "even-ranks"),
    "sentences of like length": ([*SENTENCES, "--batch", "16"], ["--balance", "random"], ["--balance", "sorted"], "less-padding"),
    "half gradients, slow network": ([*RANKS, "--network-gb-per-s", "1"], ["--compress", "none"], ["--compress", "fp16"], "compress-gradients"),
    "8-bit gradients": ([*SLOW_LINKS, "--ranks", "4"], ["--compress", "none"], ["--compress", "int8"], "compress-to-8-bits"),
    "largest gradients": ([*SLOW_LINKS, "--dgc-warm-up", "0"], ["--compress", "none"], ["--compress", "dgc"], "send-largest-gradients"),
    "low-rank gradients": (SLOW_LINKS, ["--compress", "none"], ["--compress", "powersgd"], "low-rank-gradients"),
    "signs of gradients": (SLOW_LINKS, ["--compress", "none"], ["--compress", "onebit"], "gradients-as-signs"),
    "four steps alone": ([*SLOW_LINKS, "--steps", "200"], ["--local-steps", "1"], ["--local-steps", "4"], "average-every-4-steps"),
    "parameter server": ([*RANKS, "--network-gb-per-s", "2"], ["--topology", "parameter-server"], ["--topology", "flat"], "all-reduce-instead-of-parameter-server"),
    "gradients of each batch": ([*RANKS, "--network-gb-per-s", "1", "--accumulate", "4"], ["--sum-each-batch", "on"], ["--sum-each-batch", "off"], "exchange-once"),
    "shared parameters": ([*PARALLEL, "--batch", "8", "--ranks", "8", "--shard-parameters", "on", "--precision", "bf16"], ["--gather-prefetch", "off"],
                          ["--gather-prefetch", "on"], "prefetch-all-gathers"),
    "experts": ([*PARALLEL, "--layers", "6", "--batch", "8", "--sequence", "512", "--ranks", "8", "--experts", "32", "--expert-choices", "2", "--expert-parallel", "on", "--precision",
                 "bf16"], ["--router-imbalance", "6"], ["--router-imbalance", "1"], "even-experts"),
    "micro batches": ([*PARALLEL, "--batch", "64", "--ranks", "4", "--pipeline", "1f1b", "--precision", "bf16"], ["--micro-batches", "2"], None,
                      "more-micro-batches"),
    "fewer micro batches": ([*PARALLEL, "--batch", "16", "--ranks", "4", "--pipeline", "1f1b", "--precision", "bf16"], ["--micro-batches", "16"],
                            ["--micro-batches", "8"], "fewer-micro-batches"),
    "keys and values": ([*SERVED, "--model", "transformer", "--data", "generated", "--layers", "12", "--features", "1024", "--heads", "16", "--sequence", "256", "--generate", "224",
                         "--batch", "8", "--infer-precision", "bf16", "--steps", "224"], ["--kv-cache", "off"], ["--kv-cache", "on"], "keep-keys-and-values"),
    "graph, tokens": ([*SERVED, "--model", "transformer", "--data", "generated", "--layers", "12", "--features", "1024", "--heads", "16", "--sequence", "1024", "--generate", "512",
                       "--batch", "8", "--infer-precision", "bf16", "--launch-us", "5"], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "activations kept": ([*PARALLEL, "--layers", "6", "--batch", "8", "--precision", "bf16"], ["--recompute", "on"], ["--recompute", "off"], "keep-activations"),
}

# (system, devices, rule, case on sim, case on host, published gain). Instead of a case on the host: "ab: " with a case of ab_matrix.py,
# or the reason why there is no figure.
SYSTEMS = [
    ("Workers of the loader", ALL, "workers-starved, input-bound", "workers, slow files", "workers", "100 → 300 images/s from 1 to 7 workers, GPU 50 → 95 % (I/O study); +166 % (data-loader case)"),
    ("Batches made ahead", ALL, "input-bound", "more batches ahead", "more batches ahead", NONE),
    ("Workers that stay", ALL, "loader-restart", "workers started anew", "workers started anew", NONE),
    ("Packed files", ALL, "small-files", "files into shards", "files into shards", "up to 10 times from I/O (packed records)"),
    ("Samples in memory", ALL, "slow-storage", "samples in memory", "the storage is emulated, as on sim", NONE),
    ("Decoding ahead", ALL, "input-bound", "decoding pictures ahead", "decoding ahead", NONE),
    ("Augmenting on the device", ALL, "input-bound", "augmenting on the device", "ab: augment_on", NONE),
    ("Pinned memory", ALL, "pageable-copy", "pinned memory", "pinned memory", "bandwidthTest: about 5 times the rate over PCIe 5"),
    ("Copies beside steps", ALL, "copy-not-overlapped", "copies, slow link", "copies", NONE),
    ("No waiting for ops", ALL, "host-sync", "sync, small batches", "sync", "engine bulking in MXNet, part of 660 → 1060 images/s"),
    ("Loss read later", ALL, "host-sync", "loss read, small batches", "loss read", NONE),
    ("Steps ahead", ALL, "host-sync", "one step ahead", "needs a host that is slower than the device, which are one here", NONE),
    ("CUDA graphs", ALL, "launch-bound", "graph, slow launches", "graph",
     "2.5 µs and 1 ns a node a launch, 0.5 instead of 0.9 µs between kernels (NVIDIA, V100), 0.1 instead of 1.25 (H100, tests/data/h100)"),
    ("CUDA graphs, text token by token", "host, sim", "launch-bound", "graph, tokens", "graph, tokens", NONE),
    ("Larger batch", ALL, "launch-bound, low-occupancy, memory-headroom", "batch, launch-bound", "batch, launch-bound", NONE),
    ("Caching allocator", ALL, "allocator", "memory, small batches", "memory", "about 50 µs an allocation (University of Virginia)"),
    ("Code loaded at the start", ALL, "module-load", "code loaded in steps", "code loaded in steps", NONE),
    ("No pauses", ALL, "host-pauses", "pauses", "pauses", NONE),
    ("Batch norm, sum and ReLU as one", ALL, "unfused-elementwise", "batch norm, fused", "batch norm, fused", "660 → 1060 images/s at batch 32 (with bulking); SSD > 20 % (with NHWC)"),
    ("Layer norm as one", ALL, "unfused-elementwise", "layer norm", "layer norm", "4 % of the step (Apex)"),
    ("Bias and activation in products", ALL, "unfused-elementwise", "bias and activation", "bias and activation", NONE),
    ("Loss as one", ALL, "unfused-elementwise", "loss", "loss", NONE),
    ("Graph compiler", ALL, "unfused-elementwise", "graph compiler", "graph compiler", "up to 3 times (XLA)"),
    ("Fused attention", ALL, "unfused-attention", "attention", "attention", "ten kernels into one, 392 → 13 µs (windows)"),
    ("Fused attention in windows", ALL, "unfused-attention", "attention, windows", "attention, windows", "392 → 13 µs for one layer"),
    ("Fused Adam", ALL, "unfused-optimizer", "optimizer, Adam", "optimizer, Adam", "5 to 45 % of the step (Apex)"),
    ("Fused SGD", ALL, "unfused-optimizer", "optimizer, SGD", "optimizer, SGD", "5 to 45 % of the step (Apex, Adam)"),
    ("Persistent recurrent layers", ALL, "rnn-not-persistent", "LSTM, small batches", "one loop either way: a processor has no launch to save", NONE),
    ("TF32", ALL, "no-tensor-cores", "TF32, ResNet", "rounds only: a processor has no matrix units", "up to 10 times FP32 for the product (NVIDIA, A100)"),
    ("16 bits throughout", ALL, "full-precision, no-tensor-cores", "16 bits", "rounds only", "3 times (AMP, V100)"),
    ("No casts", ALL, "amp-casts", "casts", "rounds only", NONE),
    ("No scaling of losses", ALL, "amp-casts", "loss scaling", "rounds only", NONE),
    ("Aligned products", ALL, "gemm-efficiency", "unaligned features", "no such units", "a vocabulary that is odd: three times the layer's time ([0071](../design/0071-aligned-products.md))"),
    ("Split sums", SIM_ONLY, "gemm-efficiency, low-occupancy", "split sums", "only simulated", "[0075](../design/0075-split-k.md)"),
    ("NHWC throughout", ALL, "layout-transposes", "layout", "layout", "SSD > 20 % (with fused batch norm)"),
    ("Direct data gradients", ALL, "slow-strided-dgrad", "strided gradients", "strided gradients", "up to 25 times for one convolution (cuDNN 8.1)"),
    ("Full clock", SIM_ONLY, "clock-throttled", "clock", "only simulated", NONE),
    ("Anchors in batches", ALL, "serial-per-sample", "boxes assigned one by one", "boxes assigned one by one", "384 → 69 ms (assignment in a detector)"),
    ("SimOTA in batches", ALL, "serial-per-sample", "SimOTA one by one", "SimOTA one by one",
     "384 → 69 ms (assignment in a detector)"),
    ("Coordinates on the device", ALL, "host-round-trip", "coordinates on the host", "coordinates on the host", "9.69 ms → 32 µs (one operator)"),
    ("Sums beside the backward pass", ALL, "comm-not-overlapped", "overlap, fast network", "overlap", "57 to 60 % of the ops overlapped (DDP, 8 A100)"),
    ("Buckets", ALL, "comm-too-small, unbucketed-collectives", "buckets", "buckets", "25 MB, the first 1 MB (PyTorch)"),
    ("Gradients exchanged once", ALL, "comm-each-batch", "gradients of each batch", "gradients of each batch", "no_sync() (PyTorch), without a figure"),
    ("Smaller buckets", ALL, "comm-exposed, comm-slow-link, comm-not-overlapped", "smaller buckets", "smaller buckets", "25 MB (PyTorch)"),
    ("Compressed gradients", ALL, "comm-exposed, comm-slow-link", "half gradients, slow network", "half gradients", "26 to 78 % on slow networks"),
    ("Gradients in 8 bits", ALL, "comm-exposed, comm-slow-link", "8-bit gradients", "the link model is the same on every device", NONE),
    ("Largest gradients only", ALL, "comm-exposed, comm-slow-link", "largest gradients", "the link model is the same on every device", "270 to 600 times fewer bytes (DGC)"),
    ("Gradients as low-rank matrices", ALL, "comm-exposed, comm-slow-link", "low-rank gradients", "the link model is the same on every device", NONE),
    ("Gradients as signs", ALL, "comm-exposed, comm-slow-link", "signs of gradients", "gradients as signs", "8 GPUs 3.6 to 6.3 times one (1-bit SGD, K20X)"),
    ("Steps alone (local SGD)", ALL, "comm-exposed, comm-slow-link", "four steps alone", "four steps alone", NONE),
    ("Sums inside nodes first", ALL, "comm-slow-link", "nodes", "nodes", "+85 % on 25 Gb/s"),
    ("Rings instead of a parameter server", ALL, "comm-slow-link", "parameter server", "parameter server", "Horovod and NCCL against a parameter server"),
    ("Even ranks", ALL, "straggler", "slow rank", "the same on every device: emulated", NONE),
    ("Sentences of like length", ALL, "uneven-batches", "sentences of any length", "sentences of any length", NONE),
    ("Gathers ahead (shared parameters)", "host, sim", "late-all-gather", "shared parameters", "shared parameters", "FSDP2's prefetch, without a figure"),
    ("Experts with as many tokens", "host, sim", "expert-imbalance", "experts", "room for all tokens is computed whoever fills it", "loads that an auxiliary loss evens (Switch Transformers, without a time)"),
    ("Less padding", ALL, "padding", "sentences of like length", "sentences of like length", NONE),
    ("Fewer micro batches (pipelines)", "host, sim", "launch-bound, pipeline-bubble", "fewer micro batches", "not measured: a host that launches for several ranks needs as many processors", NONE),
    ("More micro batches (pipelines)", "host, sim", "pipeline-bubble", "micro batches", "micro batches", "bubble (stages - 1) / micro batches (GPipe)"),
    ("Activations kept", ALL, "recomputation", "activations kept", "activations kept", "about 30 % more time for less memory (Chen et al., 2016)"),
    ("Inference in FP16", ALL, "inference-precision", "inference, FP16", "rounds only", "V100: 1593 → 6018 images/s, ResNet-50 (TensorRT 4)"),
    ("Inference in INT8", ALL, "inference-precision", "inference, INT8", "ab: infer_precision", "T4: 11 times FP32 (TensorRT)"),
    ("Inference in INT8 from FP16", ALL, "inference-precision", "inference, FP16 to INT8", "FP16 rounds only; FP32 to INT8 above", "A100: twice the rate by its datasheet"),
    ("Inference of a transformer in INT8", ALL, "inference-precision", "inference, transformer", "measured with convolutions, above", NONE),
    ("Keys and values kept", "host, sim", "step-growth", "keys and values", "computes whole sequences without a cache, whatever their length", "standard in serving, without a figure"),
    ("Batch norms folded, epilogues fused", ALL, "unfused-elementwise", "inference, folded", "inference, folded", "8 times at low latency (TF-TRT, with FP16)"),
]


def gain(without, with_it):
    return f"{without:.4g} → {with_it:.4g} ms ({with_it / without - 1:+.0%})"


def on_sim(name, runs):
    row = validate(name, (SIM | MORE)[name], runs, 1)
    a, b, predicted = (row[key] / 1e6 for key in ("a_ns", "b_ns", "predicted_ns"))
    return gain(a, b), f"{predicted:.4g} ms"


def host_rows(accuracy):
    """Measured and predicted gain by case, from the table in docs/accuracy.md."""
    section = accuracy.read_text().split("<!-- host: begin -->")[1].split("<!-- host: end -->")[0]
    rows = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 10 and cells[0] in HOST:
            without, with_it, predicted = (float(re.match(r"[\d.]+", cell).group()) for cell in cells[3:6])
            rows[cells[0]] = f"{gain(without, with_it)}, predicted {predicted:.4g} ms"
    return rows


def ab_rows(file):
    """Measured gain by case, from ab_matrix.py's JSON."""
    rows = json.loads(file.read_text())["cases"] if file else []
    return {row["name"]: f"{gain(row['bad_ms'], row['good_ms'])}, not predicted" for row in rows}


def existing_ab_rows(markdown):
    """Measured gain by system, from the existing table: stays valid until ab_matrix.py is run again on an idle machine."""
    if not markdown or not markdown.exists():
        return {}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.read_text().splitlines() if line.startswith("| ")]
    return {row[0]: row[6] for row in rows if len(row) == 8 and row[6].endswith(", not predicted")}


def switch_text(name):
    _, bad, good, _ = (SIM | MORE)[name]
    good = good or [bad[0], "more"]
    pairs = [(bad[i], bad[i + 1], good[good.index(bad[i]) + 1] if bad[i] in good else "") for i in range(0, len(bad), 2)]
    return "<br>".join(f"`{switch} {value}`" + (f" → `{better}`" if better else "") for switch, value, better in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--ab-matrix", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    arguments = parser.parse_args()
    host = host_rows(pathlib.Path(__file__).resolve().parent.parent / "docs/accuracy.md")
    ab, existing = ab_rows(arguments.ab_matrix), existing_ab_rows(arguments.markdown)
    lines = ["| system | switch | devices | rule | sim: step without → with | sim: predicted | host | published |", "|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="headway systems ") as folder:
        runs = Runs(arguments.binaries.resolve(), "sim", 40, pathlib.Path(folder), False)
        for system, devices, rule, case, on_host, published in SYSTEMS:
            if arguments.only not in system:
                continue
            measured, predicted = on_sim(case, runs)
            if on_host.startswith("ab: "):
                on_host = ab.get(on_host[4:]) or existing.get(system, "not measured: `scripts/ab_matrix.py --only " + on_host[4:] + "`")
            cells = [system, switch_text(case), devices, ", ".join(f"`{one}`" for one in rule.split(", ")), measured, predicted, host.get(on_host, on_host), published]
            if not all(cells):
                sys.exit(f"{system}: an empty cell")
            lines.append("| " + " | ".join(cells) + " |")
            print(f"{system:36} {measured:32} predicted {predicted:12} {cells[6]}", flush=True)
    text = "\n".join([*lines, ""])
    if arguments.markdown:
        replace_section(arguments.markdown, "systems", text)


if __name__ == "__main__":
    main()
