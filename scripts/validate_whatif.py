#!/usr/bin/env python3
"""How wrong are the predictions of `headway whatif`? For each case a run without the fix is recorded, the step with it is predicted
from that recording alone, and the trainer is recorded again with the fix switched on. Beside it the two usual shortcuts, from the same
recording: subtracting the fix's exposed time, and the longest path with changed lengths. Then a run with several causes at once:
are its fixes ranked by what they gain?
Usage: validate_whatif.py BIN_FOLDER [--device sim|host] [--only CASE ...] [--steps N] [--repeat N] [--json FILE] [--markdown FILE]
[--calibrated] [--check]   (--calibrated, for sim: predict with the figures of the simulated GPU, as `headway calibrate` gives
those of a machine; --check, for sim: exit status 1 when a case is off by more than its tolerance or an unchanged replay differs;
--markdown replaces the table in FILE)"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

IMAGES = ["--model", "resnet", "--eval", "off"]
LARGE = [*IMAGES, "--width", "64", "--batch", "256", "--workers", "8"]
SMALL = [*IMAGES, "--batch", "1"]
TEXT = ["--model", "transformer", "--data", "generated", "--eval", "off", "--layers", "4", "--features", "256", "--batch", "16"]
TINY_TEXT = ["--model", "transformer", "--data", "generated", "--eval", "off", "--layers", "4", "--features", "64", "--sequence", "16", "--batch", "1"]
# Reading takes longer than computing.
INPUT_BOUND = [*LARGE, "--workers", "1", "--source", "files", "--storage-latency-ms", "0.05"]
# Computing takes little.
FAST = [*IMAGES, "--width", "16", "--batch", "1024"]
BOXES = ["--model", "ssd", "--depth", "8", "--eval", "off", "--data", "generated-pictures", "--image-size", "64", "--batch", "32", "--samples", "320", "--workers", "64", "--prefetch", "64", "--host-cores", "128"]
RANKS = [*LARGE, "--ranks", "4", "--ranks-per-node", "2", "--bucket-mb", "2"]
# Nodes of two ranks, with gradients that weigh as much as the computation beside them.
MESSAGES = [*IMAGES, "--width", "64", "--batch", "64", "--workers", "8", "--ranks", "4", "--ranks-per-node", "2"]
ATTENTION = ["--model", "transformer", "--data", "generated", "--eval", "off", "--layers", "2", "--features", "256", "--sequence", "512", "--batch", "16"]
LSTM = ["--model", "gnmt", "--data", "generated", "--eval", "off", "--features", "64", "--sequence", "32", "--batch", "4"]
SINGLE = ["--first-bucket-mb", "0", "--bucket-mb", "0"]
# Work between steps, every fourth time.
BETWEEN = ["--steps", "162", "--pause-every", "4", "--pause-ms", "40"]

# A trained network that only runs forward, as fast as the GPU can.
SERVED = ["--mode", "infer", "--eval", "off", "--augment", "off", "--source", "memory", "--workers", "64", "--host-cores", "128", "--prefetch", "64"]
SERVED_IMAGES = [*SERVED, "--model", "resnet", "--width", "64", "--batch", "256", "--gpu", "t4"]
SERVED_TEXT = [*SERVED, "--model", "transformer", "--data", "generated", "--layers", "4", "--features", "768", "--heads", "12", "--batch", "32"]
APART = ["--fused-bn", "off", "--graph-compiler", "off"]

# name: (setting of both sides, bad value, good value or None for what the prediction names, fix)
SIM = {
    "workers, slow files": (INPUT_BOUND, ["--workers", "1"], None, "more-workers"),
    # Batches come in bursts, as many as there are workers: many steps, so that it does not matter where the first and last burst are cut.
    "workers, few processors": ([*FAST, "--steps", "400", "--host-cores", "4", "--jitter", "0.1", "--batch", "256", "--data", "generated-pictures", "--image-size", "64", "--source", "shards"], ["--workers", "1"], None, "more-workers"),
    "workers that wait for storage": ([*FAST, "--steps", "400", "--host-cores", "8", "--jitter", "0.1", "--source", "files", "--storage-latency-ms", "0.05"], ["--workers", "2"], None, "more-workers"),
    "workers, unsteady": ([*FAST, "--host-cores", "8", "--jitter", "0.3", "--source", "shards", "--storage-latency-ms", "2"], ["--workers", "1"], None, "more-workers"),
    "files into shards": ([*FAST, "--workers", "4", "--storage-latency-ms", "0.05"], ["--source", "files"], ["--source", "shards"], "pack-files"),
    "decoding ahead": ([*FAST, "--workers", "2", "--source", "shards"], ["--decode", "step"], ["--decode", "offline"], "decode-offline"),
    "decoding pictures ahead": ([*FAST, "--batch", "64", "--data", "generated-pictures", "--image-size", "64", "--workers", "4", "--source", "shards"], ["--decode", "step"], ["--decode", "offline"], "decode-offline"),
    "decoding pictures ahead, slow link": (["--model", "ssd", "--depth", "8", "--width", "8", "--data", "generated-pictures", "--image-size", "32", "--workers", "8", "--source", "shards", "--augment-on", "device", "--link-mb-per-s", "2000"], ["--decode", "step"], ["--decode", "offline"], "decode-offline"),
    "syncs, shared processors": ([*FAST, "--batch", "256", "--source", "files", "--workers", "8", "--prefetch", "8", "--host-cores", "2"], ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "augmenting on the device": ([*FAST, "--batch", "64", "--data", "generated-pictures", "--image-size", "64", "--workers", "4", "--source", "shards"], ["--augment-on", "workers"], ["--augment-on", "device"], "augment-on-device"),
    "augmenting on the device, decoded ahead": ([*FAST, "--batch", "64", "--data", "generated-pictures", "--image-size", "64", "--workers", "2", "--source", "shards", "--decode", "offline"], ["--augment-on", "workers"], ["--augment-on", "device"], "augment-on-device"),
    "augmenting on the device, small images": ([*FAST, "--workers", "2", "--source", "shards"], ["--augment-on", "workers"], ["--augment-on", "device"], "augment-on-device"),
    "workers started anew": ([*LARGE, "--steps", "120", "--samples", "2560", "--workers", "4", "--worker-start-ms", "200"], ["--worker-reuse", "off"], ["--worker-reuse", "on"], "persistent-workers"),
    # Forty or twenty times in the steady steps.
    "garbage collected": ([*TEXT, *BETWEEN], ["--pause-for", "garbage-collection"], ["--pause-every", "0"], "no-garbage-collection"),
    "workers restarted by the training thread": ([*TEXT, *BETWEEN], ["--pause-for", "worker-restart"], ["--pause-every", "0"], "persistent-workers"),
    "evaluations": ([*TEXT, *BETWEEN], ["--pause-for", "evaluation"], ["--pause-for", "evaluation", "--pause-every", "8"], "evaluate-less-often"),
    "checkpoints": ([*TEXT, *BETWEEN], ["--pause-for", "checkpoint"], ["--pause-for", "checkpoint", "--pause-every", "8"], "checkpoint-less-often"),
    "logging": ([*TEXT, *BETWEEN], ["--pause-for", "logging"], ["--pause-for", "logging", "--pause-every", "8"], "log-less-often"),
    "metrics": (TEXT, ["--pause-every", "1", "--pause-ms", "4", "--pause-for", "metrics"], ["--pause-every", "0"], "free-host"),
    "pinned memory": ([*FAST, "--workers", "16", "--source", "memory", "--h2d", "async"], ["--pinned", "off"], ["--pinned", "on"], "pinned-copies"),
    "pinned memory, launch-bound": ([*IMAGES, "--batch", "64", "--h2d", "async"], ["--pinned", "off"], ["--pinned", "on"], "pinned-copies"),
    "batch, launch-bound": (IMAGES, ["--batch", "16"], ["--batch", "32"], "larger-batch"),
    "batch, large": ([*LARGE, "--workers", "16"], ["--batch", "64"], ["--batch", "128"], "larger-batch"),
    "boxes assigned one by one": (BOXES, ["--assign", "per-sample"], ["--assign", "batched"], "batch-samples"),
    "coordinates on the host": (BOXES, ["--coords", "host-round-trip"], ["--coords", "device"], "stay-on-device"),
    "sync, small batches": (SMALL, ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "sync, every 8th op": (SMALL, ["--sync", "8"], ["--sync", "never"], "remove-syncs"),
    "sync, transformer": (TEXT, ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "sync, slow launches": ([*SMALL, "--launch-us", "10"], ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "sync, large batches": (LARGE, ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "loss read, small batches": (SMALL, ["--loss-read", "step"], ["--loss-read", "deferred"], "deferred-read"),
    "loss read, slow launches": ([*SMALL, "--launch-us", "10"], ["--loss-read", "step"], ["--loss-read", "deferred"], "deferred-read"),
    "memory, large batches": (LARGE, ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "memory, small batches": (SMALL, ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "memory, transformer": (TEXT, ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "memory, input-bound": (INPUT_BOUND, ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "memory, ranks": ([*RANKS, "--network-gb-per-s", "12"], ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "copies, slow link": ([*LARGE, "--link-mb-per-s", "200"], ["--h2d", "async"], ["--h2d", "prefetch"], "overlap-copies"),
    "copies, slower than compute": ([*LARGE, "--link-mb-per-s", "30"], ["--h2d", "async"], ["--h2d", "prefetch"], "overlap-copies"),
    "copies, input-bound": ([*INPUT_BOUND, "--link-mb-per-s", "200"], ["--h2d", "async"], ["--h2d", "prefetch"], "overlap-copies"),
    "overlap, fast network": ([*RANKS, "--network-gb-per-s", "12"], ["--overlap", "off"], ["--overlap", "on"], "overlap-communication"),
    "overlap, slow network": ([*RANKS, "--network-gb-per-s", "4"], ["--overlap", "off"], ["--overlap", "on"], "overlap-communication"),
    "slow rank": ([*LARGE, "--ranks", "4", "--ranks-per-node", "4"], ["--slow-rank", "2", "--slow-rank-ms", "30"], ["--slow-rank-ms", "0"], "even-ranks"),
    "slow rank, launch-bound": ([*SMALL, "--ranks", "4", "--launch-us", "10"], ["--slow-rank", "1", "--slow-rank-ms", "1"], ["--slow-rank-ms", "0"], "even-ranks"),
    "graph, small batches": (SMALL, ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "graph, slow launches": ([*SMALL, "--launch-us", "10"], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "graph, transformer": (TINY_TEXT, ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "graph, ranks": ([*SMALL, "--ranks", "4", "--launch-us", "10"], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "optimizer, Adam": (TINY_TEXT, ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"], "multi-tensor-optimizer"),
    "optimizer, SGD": (SMALL, ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"], "multi-tensor-optimizer"),
    "TF32, ResNet": (LARGE, ["--precision", "fp32"], ["--precision", "tf32"], "tensor-cores"),
    "TF32, transformer": (TEXT, ["--precision", "fp32"], ["--precision", "tf32"], "tensor-cores"),
    "TF32, input-bound": (INPUT_BOUND, ["--precision", "fp32"], ["--precision", "tf32"], "tensor-cores"),
    "batch norm, fused": ([*IMAGES, "--width", "16", "--batch", "1024", "--source", "memory", "--workers", "16"], ["--fused-bn", "off"], ["--fused-bn", "on"], "fuse-chains"),
    "graph compiler": (TEXT, ["--fused-ln", "off", "--fused-bias-act", "off", "--graph-compiler", "off"], ["--graph-compiler", "on"], "fuse-chains"),
    "casts of small products": (["--model", "transformer", "--gpu", "v100", "--features", "64", "--layers", "8", "--sequence", "32", "--batch", "8", "--steps", "60"], ["--precision", "amp-o1"], ["--precision", "tf32"], "leave-mixed-precision"),
    "layout": ([*FAST, "--precision", "bf16", "--source", "memory", "--workers", "16"], ["--layout", "nchw"], ["--layout", "nhwc"], "no-layout-changes"),
    "layout, launch-bound": ([*IMAGES, "--batch", "16"], ["--layout", "nchw"], ["--layout", "nhwc"], "no-layout-changes"),
    "strided gradients": ([*LARGE, "--depth", "8", "--source", "memory", "--workers", "16"], ["--dgrad", "slow"], ["--dgrad", "fast"], "faster-gradients"),
    "strided gradients, BF16": ([*FAST, "--depth", "14", "--precision", "bf16", "--source", "memory", "--workers", "16"], ["--dgrad", "slow"], ["--dgrad", "fast"], "faster-gradients"),
    "clock": ([*LARGE, "--workers", "16"], ["--clock", "0.6"], ["--clock", "1"], "full-clock"),
    "code loaded in steps": ([*TEXT, "--load-code-ms", "8"], ["--module-loading", "lazy"], ["--module-loading", "eager"], "eager-loading"),
    "buckets": ([*MESSAGES, "--network-us", "20", "--network-gb-per-s", "100"], SINGLE, None, "larger-buckets"),
    "smaller buckets": ([*TEXT, "--features", "512", "--heads", "8", "--ranks", "2", "--ranks-per-node", "1", "--network-gb-per-s", "8"], ["--bucket-mb", "100"], None, "smaller-buckets"),
    "buckets, not overlapped": ([*MESSAGES, "--network-us", "20", "--overlap", "off"], SINGLE, None, "larger-buckets"),
    "buckets, launch-bound": ([*SMALL, "--ranks", "4", "--launch-us", "10"], SINGLE, None, "larger-buckets"),
    "half gradients": ([*RANKS, "--network-gb-per-s", "4"], ["--compress", "none"], ["--compress", "fp16"], "compress-gradients"),
    "half gradients, fast network": ([*RANKS, "--network-gb-per-s", "50", "--overlap", "off"], ["--compress", "none"], ["--compress", "fp16"], "compress-gradients"),
    "nodes": ([*RANKS, "--network-gb-per-s", "2"], ["--topology", "flat"], ["--topology", "hierarchical"], "hierarchical-allreduce"),
    "nodes of eight": ([*LARGE, "--ranks", "16", "--ranks-per-node", "8", "--bucket-mb", "2", "--network-gb-per-s", "8"], ["--topology", "flat"], ["--topology", "hierarchical"], "hierarchical-allreduce"),
    "LSTM, small batches": (LSTM, ["--rnn", "standard"], ["--rnn", "persistent"], "persistent-rnn"),
    "LSTM, large batches": ([*LSTM, "--features", "512", "--batch", "128"], ["--rnn", "standard"], ["--rnn", "persistent"], "persistent-rnn"),
    "attention": (ATTENTION, ["--fused-attention", "off"], ["--fused-attention", "on"], "fused-attention"),
    "attention, BF16": ([*ATTENTION, "--precision", "bf16"], ["--fused-attention", "off"], ["--fused-attention", "on"], "fused-attention"),
    "inference, FP16": (SERVED_IMAGES, ["--infer-precision", "fp32"], ["--infer-precision", "fp16"], "infer-in-16-bits"),
    "inference, INT8": (SERVED_IMAGES, ["--infer-precision", "fp32"], ["--infer-precision", "int8"], "infer-in-int8"),
    "inference, FP16 to INT8": ([*SERVED_IMAGES, "--gpu", "h200"], ["--infer-precision", "fp16"], ["--infer-precision", "int8"], "infer-in-int8"),
    "inference, transformer": ([*SERVED_TEXT, "--gpu", "a100"], ["--infer-precision", "fp16"], ["--infer-precision", "int8"], "infer-in-int8"),
    "inference, folded": ([*SERVED_IMAGES, *APART], ["--fold-bn", "off", "--fused-epilogue", "off"], ["--fold-bn", "on", "--fused-epilogue", "on"], "inference-engine"),
    "attention, windows": ([*ATTENTION, "--window", "64"], ["--fused-attention", "off"], ["--fused-attention", "on"], "fused-attention"),
}
# Cases that are known to miss: by how much at most, and why.
NO_GAP = "a device that is waited for after every op never shows the gap between two kernels; 1.3 µs are assumed, 0.6 of them between nodes, and it has 1.0 and 0.55 (off by 0.03 % with --calibrated)"
CLOSE_NODES = ("nodes of a graph are taken to follow each other at 0.2 of the gap between launches and to cost 50 ns each, which one recording of an H100 and older GPUs "
               "leave open; this GPU has 0.08 and 1 ns, as that recording and CUDA 12.6")
NEVER_BEHIND = "launches that come late never show the gap between two kernels; 1.3 µs are assumed, 0.2 of them between nodes, and it has 1.0 and 0.08 (off by 2.6 to 2.7 % with --calibrated)"
OWN_CLOCK = "a ceiling: memory has its own clock, and what it bounds takes no longer"
POOL = "a pool is taken to need 0.2 µs for each call, as frameworks' do; this trainer plans a step's memory once and makes no call, and here the host decides the step"
TF32_RATE = "the formula gives TF32 70 % of what the general cores reach of their peak (5.2 times as fast), this GPU gives it the same share (7.4)"
UNDER_WAY = "nothing tells how much of a small kernel's time its bytes take: half way between the best rates of its family and of all kernels is assumed"
CLUSTERS = "what a graph compiler has fused is taken as finished; this trainer's fused batch norm takes the sum and ReLU of a cluster along"
FEW_BLOCKS = "the formula reads a layer's weights at the memory's rate, and this GPU reads small ones with as many blocks as they have bytes for, which leave most of it idle"
SHARED = "what workers compute gets longer or shorter by one factor; in the run each batch has its own"
QUANTISED = "what quantising operands takes is that of an average block; this one is counted exactly"
SMALL_IN_32 = "a recording in 16 bits does not tell whether products of a few blocks wait for latency or compute for longer in 32: half way is assumed, here they wait"
KNOWN_MISSES = {
    "casts of small products": (0.16, SMALL_IN_32),
    "inference, transformer": (0.06, QUANTISED),
    "syncs, shared processors": (0.06, SHARED),
    "LSTM, small batches": (0.03, FEW_BLOCKS),
    "batch norm, fused": (0.06, CLUSTERS),
    "batch, launch-bound": (0.03, UNDER_WAY),
    "graph, small batches": (0.03, CLOSE_NODES),
    "graph, transformer": (0.04, CLOSE_NODES),
    "graph, slow launches": (0.06, NEVER_BEHIND),
    "graph, ranks": (0.06, NEVER_BEHIND),
    "clock": (0.06, OWN_CLOCK),
    "sync, small batches": (0.10, NO_GAP),
    "sync, transformer": (0.03, NO_GAP),
    "memory, small batches": (0.08, POOL),
    "memory, transformer": (0.03, NO_GAP),
    "TF32, ResNet": (0.20, TF32_RATE),
    "TF32, transformer": (0.10, TF32_RATE),
}
KNOWN_MISSES_CALIBRATED = {"casts of small products": (0.16, SMALL_IN_32), "inference, transformer": (0.06, QUANTISED), "syncs, shared processors": (0.06, SHARED), "clock": (0.06, OWN_CLOCK), "batch norm, fused": (0.06, CLUSTERS), "memory, small batches": (0.08, POOL), "batch, launch-bound": (0.03, UNDER_WAY), "TF32, transformer": (0.03, TF32_RATE), "LSTM, small batches": (0.03, FEW_BLOCKS),
                           "graph, small batches": (0.03, CLOSE_NODES), "graph, transformer": (0.04, CLOSE_NODES), "graph, slow launches": (0.04, CLOSE_NODES), "graph, ranks": (0.04, CLOSE_NODES)}
TOLERANCE = {"structural": 0.005, "modelled": 0.02, "ceiling": 0.02}
# Polling, as CUDA does unless told otherwise: what waking a thread costs in a virtual machine no recording can tell.
SPIN = ["--device-schedule", "spin"]
# Two threads work here, training and device; a loader that reads and decodes would be a third one on two cores.
HOST_SMALL = [*IMAGES, "--batch", "1", "--source", "memory", *SPIN]
HOST_TEXT = [*TINY_TEXT, "--memory-gb-per-s", "6", "--launch-us", "2", *SPIN]
HOST_RANKS = [*IMAGES, "--steps", "60", "--batch", "8", "--samples", "2000", "--source", "memory", "--ranks", "2", "--ranks-per-node", "1"]
HOST_BOXES = ["--model", "ssd", "--eval", "off", "--data", "generated", "--samples", "500", "--image-size", "32", "--depth", "8", "--width", "8", "--decode", "offline",
              "--augment", "off", "--prefetch", "32", *SPIN]
HOST_SHARED = ["--model", "transformer", "--data", "generated", "--eval", "off", "--dropout", "0", "--layers", "4", "--heads", "4", "--threads", "1", "--steps", "24", "--ranks", "2"]
HOST_SENTENCES = ["--model", "gnmt", "--data", "generated", "--eval", "off", "--layers", "2", "--features", "64", "--sequence", "64", "--batch", "16", *SPIN]
HOST_SERVED = ["--mode", "infer", "--train-steps", "0", *IMAGES, "--batch", "32", "--samples", "2000", "--source", "memory", "--augment", "off", *SPIN]
HOST_TOKENS = ["--mode", "infer", "--train-steps", "0", "--model", "transformer", "--data", "generated", "--eval", "off", "--layers", "2", "--features", "64", "--batch", "4",
               "--sequence", "128", "--generate", "96", "--steps", "96", *SPIN]
HOST = {
    "sync": ([*HOST_SMALL, "--launch-us", "8"], ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "sync, every 8th op": ([*HOST_SMALL, "--launch-us", "20"], ["--sync", "8"], ["--sync", "never"], "remove-syncs"),
    "sync, transformer": ([*HOST_TEXT], ["--sync", "op"], ["--sync", "never"], "remove-syncs"),
    "graph": ([*HOST_SMALL, "--launch-us", "20"], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "graph, transformer": ([*TINY_TEXT, "--launch-us", "20", *SPIN], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
    "loss read": ([*HOST_SMALL, "--launch-us", "20"], ["--loss-read", "step"], ["--loss-read", "deferred"], "deferred-read"),
    "copies": ([*IMAGES, "--steps", "80", "--batch", "16", "--launch-us", "5", "--link-mb-per-s", "2", *SPIN], ["--h2d", "async"], ["--h2d", "prefetch"], "overlap-copies"),
    "files into shards": ([*IMAGES, "--steps", "80", "--batch", "16", "--workers", "1", "--storage-latency-ms", "2", *SPIN], ["--source", "files"], ["--source", "shards"], "pack-files"),
    "decoding ahead": ([*IMAGES, "--depth", "8", "--batch", "32", "--data", "generated-pictures", "--width", "8", "--image-size", "32", "--samples", "500", "--workers", "1", "--source", "shards", *SPIN], ["--decode", "step"], ["--decode", "offline"], "decode-offline"),
    "optimizer, SGD": ([*HOST_SMALL, "--memory-gb-per-s", "6", "--launch-us", "2"], ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"], "multi-tensor-optimizer"),
    "optimizer, Adam": (HOST_TEXT, ["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"], "multi-tensor-optimizer"),
    "batch norm, fused": ([*IMAGES, "--steps", "80", "--batch", "16", "--memory-gb-per-s", "2", "--launch-us", "2", *SPIN], ["--fused-bn", "off"], ["--fused-bn", "on"], "fuse-chains"),
    "graph compiler": ([*HOST_TEXT, "--batch", "16", "--memory-gb-per-s", "2", "--fused-ln", "off", "--fused-bias-act", "off"], ["--graph-compiler", "off"], ["--graph-compiler", "on"], "fuse-chains"),
    "layout": ([*IMAGES, "--steps", "80", "--batch", "4", "--memory-gb-per-s", "0.5", "--launch-us", "5", "--source", "memory", *SPIN], ["--layout", "nchw"], ["--layout", "nhwc"], "no-layout-changes"),
    "code loaded in steps": ([*HOST_SMALL, "--load-code-ms", "20"], ["--module-loading", "lazy"], ["--module-loading", "eager"], "eager-loading"),
    "strided gradients": ([*IMAGES, "--steps", "60", "--depth", "8", "--width", "32", "--batch", "8", "--source", "memory", *SPIN], ["--dgrad", "slow"], ["--dgrad", "fast"], "faster-gradients"),
    "workers": ([*IMAGES, "--steps", "80", "--batch", "16", "--storage-latency-ms", "2", "--source", "files", *SPIN], ["--workers", "1"], None, "more-workers"),
    # Asleep: the waits of frees go away with them, and a thread that polls for each takes the other processor from kernels.
    "memory": ([*IMAGES, "--steps", "80", "--batch", "16", "--source", "memory"], ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "memory, small batches": ([*IMAGES, "--batch", "1", "--source", "memory"], ["--allocator", "raw"], ["--allocator", "caching"], "caching-allocator"),
    "pinned memory": ([*IMAGES, "--batch", "16", "--launch-us", "5", "--h2d", "async", "--link-mb-per-s", "5", *SPIN], ["--pinned", "off"], ["--pinned", "on"], "pinned-copies"),
    "layer norm": ([*HOST_TEXT, "--batch", "16", "--memory-gb-per-s", "2", "--graph-compiler", "off"], ["--fused-ln", "off"], ["--fused-ln", "on"], "fuse-chains"),
    "bias and activation": ([*HOST_TEXT, "--batch", "16", "--memory-gb-per-s", "2", "--graph-compiler", "off"], ["--fused-bias-act", "off"], ["--fused-bias-act", "on"], "fuse-chains"),
    "attention": ([*TINY_TEXT, "--steps", "40", "--layers", "2", "--features", "128", "--batch", "8", "--sequence", "128", "--launch-us", "5", *SPIN], ["--fused-attention", "off"], ["--fused-attention", "on"], "fused-attention"),
    "boxes assigned one by one": ([*HOST_BOXES, "--batch", "32", "--launch-us", "60"], ["--assign", "per-sample"], ["--assign", "batched"], "batch-samples"),
    "SimOTA one by one": ([*HOST_BOXES, "--batch", "32", "--launch-us", "60", "--matching", "simota"], ["--assign", "per-sample"], ["--assign", "batched"], "batch-samples"),
    "coordinates on the host": ([*HOST_BOXES, "--batch", "4", "--link-mb-per-s", "20"], ["--coords", "host-round-trip"], ["--coords", "device"], "stay-on-device"),
    "overlap": ([*HOST_RANKS, "--network-gb-per-s", "0.01", "--bucket-mb", "0.25", "--first-bucket-mb", "0.1"], ["--overlap", "off"], ["--overlap", "on"], "overlap-communication"),
    "buckets": ([*HOST_RANKS, "--network-us", "1000"], SINGLE, None, "larger-buckets"),
    "half gradients": ([*HOST_RANKS, "--network-gb-per-s", "0.01"], ["--compress", "none"], ["--compress", "fp16"], "compress-gradients"),
    "nodes": ([*HOST_RANKS, "--ranks", "4", "--ranks-per-node", "2", "--network-gb-per-s", "0.01"], ["--topology", "flat"], ["--topology", "hierarchical"], "hierarchical-allreduce"),
    "gradients as signs": ([*HOST_RANKS, "--network-gb-per-s", "0.01"], ["--compress", "none"], ["--compress", "onebit"], "gradients-as-signs"),
    "four steps alone": ([*HOST_RANKS, "--network-gb-per-s", "0.01"], ["--local-steps", "1"], ["--local-steps", "4"], "average-every-4-steps"),
    # Memory and links are emulated slower than they are, so that two ranks on two processors wait for them and not for each other.
    "shared parameters": ([*HOST_SHARED, "--features", "64", "--sequence", "64", "--batch", "4", "--shard-parameters", "on", "--memory-gb-per-s", "0.2", "--node-gb-per-s", "0.008"],
                          ["--gather-prefetch", "off"], ["--gather-prefetch", "on"], "prefetch-all-gathers"),
    "micro batches": ([*HOST_SHARED, "--features", "32", "--sequence", "32", "--batch", "64", "--pipeline", "1f1b", "--memory-gb-per-s", "0.25"], ["--micro-batches", "2"], None, "more-micro-batches"),
    "parameter server": ([*HOST_RANKS, "--ranks", "4", "--network-gb-per-s", "0.01"], ["--topology", "parameter-server"], ["--topology", "flat"], "all-reduce-instead-of-parameter-server"),
    "gradients of each batch": ([*HOST_RANKS, "--network-gb-per-s", "0.01", "--accumulate", "4"], ["--sum-each-batch", "on"], ["--sum-each-batch", "off"], "exchange-once"),
    "smaller buckets": ([*TINY_TEXT, "--steps", "40", "--features", "512", "--heads", "8", "--threads", "1", "--ranks", "2", "--ranks-per-node", "1", "--network-gb-per-s", "0.3"], ["--bucket-mb", "100"], None, "smaller-buckets"),
    "more batches ahead": ([*IMAGES, "--steps", "80", "--batch", "16", "--source", "files", "--storage-latency-ms", "1", "--workers", "2", *SPIN], ["--prefetch", "1"], ["--prefetch", "4"], "deeper-prefetch"),
    "workers started anew": ([*IMAGES, "--steps", "80", "--batch", "16", "--samples", "320", "--workers", "2", "--worker-start-ms", "200", *SPIN], ["--worker-reuse", "off"], ["--worker-reuse", "on"], "persistent-workers"),
    "pauses": ([*IMAGES, "--steps", "140", "--batch", "4", "--source", "memory", *SPIN], ["--pause-every", "7", "--pause-ms", "100"], ["--pause-every", "0"], "no-pauses"),
    "batch, launch-bound": ([*IMAGES, "--width", "8", "--depth", "8", "--launch-us", "200", "--source", "memory", *SPIN], ["--batch", "1"], ["--batch", "2"], "larger-batch"),
    "loss": ([*HOST_TEXT, "--layers", "1", "--batch", "16", "--graph-compiler", "off"], ["--fused-loss", "off"], ["--fused-loss", "on"], "fuse-chains"),
    "attention, windows": ([*TINY_TEXT, "--layers", "2", "--features", "128", "--batch", "8", "--sequence", "128", "--launch-us", "5", "--window", "32", *SPIN], ["--fused-attention", "off"], ["--fused-attention", "on"], "fused-attention"),
    "sentences of any length": ([*HOST_SENTENCES, "--ranks", "2", "--ranks-per-node", "1", "--threads", "1"], ["--balance", "random"], ["--balance", "sorted"], "even-ranks"),
    "sentences of like length": (HOST_SENTENCES, ["--balance", "random"], ["--balance", "sorted"], "less-padding"),
    "activations kept": ([*TINY_TEXT, "--features", "128", "--batch", "8", "--sequence", "64", *SPIN], ["--recompute", "on"], ["--recompute", "off"], "keep-activations"),
    "inference, folded": (HOST_SERVED, ["--fold-bn", "off", "--fused-epilogue", "off"], ["--fold-bn", "on", "--fused-epilogue", "on"], "inference-engine"),
    "graph, tokens": ([*HOST_TOKENS, "--launch-us", "20"], ["--cuda-graph", "off"], ["--cuda-graph", "on"], "cuda-graph"),
}
# What comes once in many steps is not in the median step.
RARE = {"pauses", "workers started anew", "code loaded in steps", "four steps alone"}
# Several causes in one run, and what takes each away: is what gains most named first?
CAUSES = {"remove-syncs": (["--sync", "8"], ["--sync", "never"]),
          "deferred-read": (["--loss-read", "step"], ["--loss-read", "deferred"]),
          "overlap-copies": (["--h2d", "async"], ["--h2d", "prefetch"]),
          "multi-tensor-optimizer": (["--fused-optimizer", "off"], ["--fused-optimizer", "multi-tensor"]),
          "tensor-cores": (["--precision", "fp32"], ["--precision", "tf32"])}
RANKED = {"sim": ([*IMAGES, "--batch", "16", "--link-mb-per-s", "1000"], list(CAUSES)),
          # A processor has no tensor cores.
          "host": ([*HOST_SMALL, "--launch-us", "8", "--link-mb-per-s", "5"], list(CAUSES)[:-1])}


# On two processors both are the program's, and a recorder that takes its share of them lengthens the run with the fix, which has the
# same events in less time, more than the one without: it yields.
YIELD = ["sh", "-c", f'renice -n {min(19, os.nice(0) + 10)} -p $(ls /proc/$PPID/task) > /dev/null 2>&1; exec "$@"', "sh"]


def run(command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with status {result.returncode}: {result.stderr.strip()}")
    return result


class Runs:
    def __init__(self, binaries, device, steps, folder, calibrated):
        self.binaries, self.device, self.steps, self.folder = binaries, device, steps, folder
        self.calibration = folder / "calibration.json" if calibrated or device == "host" else None
        if device == "host":
            run([binaries / "headway", "calibrate", "--device", "host", "-o", self.calibration])

    def trainer(self, arguments):
        steps = [] if "--steps" in arguments else ["--steps", self.steps]
        return [self.binaries / "headway-train", *arguments, "--device", self.device, *steps, "--quiet"]

    def record(self, arguments):
        trace = self.folder / "a.sqlite"
        trace.unlink(missing_ok=True)
        if self.device == "sim":
            run([*self.trainer(arguments), "--trace", trace, *(["--calibration", self.calibration] if self.calibration else [])])
        else:
            said = run([self.binaries / "headway", "record", "--force", "-o", trace, "--", *YIELD, *self.trainer(arguments)]).stderr
            if "nothing was lost" not in said:
                sys.exit(f"the recording is not whole: {said.strip()}")
        return trace

    def predict(self, trace, *fixes):
        chosen = [argument for fix in fixes for argument in ("--fix", fix)]
        calibration = ["--calibration", self.calibration] if self.calibration else []
        return json.loads(run([self.binaries / "headway", "whatif", trace, *chosen, "--compare", "--json", *calibration]).stdout)

    def step_ns(self, arguments, figure):
        """Of the same steps that a prediction is about, recorded like those it is made from."""
        return self.predict(self.record(arguments), "free-input")["baseline"][figure]

    def figure(self, case):
        # On the host a thread now and then loses its processor for some milliseconds, and in no other run at the same place: medians.
        return "step_ns" if self.device == "sim" or case in RARE else "median_step_ns"


def validate(name, case, runs, repeat):
    common, bad, good, fix = case
    rounds = []
    figure = runs.figure(name)
    # Of a larger batch: per recorded one.
    work = int(good[1]) / int(bad[1]) if good and bad[0] == "--batch" else 1
    for _ in range(repeat):
        whatif = runs.predict(runs.record([*common, *bad]), fix)
        one = whatif["fixes"][0]
        if not one["applies"]:
            sys.exit(f"{name}: {fix} does not apply: {one['text']}")
        a, predicted = whatif["baseline"][figure], one[figure]
        b = runs.step_ns([*common, *(good or one["setting"].split())], figure) / work
        usual = one["usual_methods"]
        low, high = one["gain_ns"] - one["gain_low_ns"], one["gain_high_ns"] - one["gain_ns"]
        margin = 5e-4 * a  # an interval of no width is hit by what equals it but for rounding
        rounds.append({"a_ns": a, "b_ns": b, "predicted_ns": predicted, "residual": whatif["baseline"]["residual"],
                       "subtraction_ns": usual[f"subtraction_{figure}"],
                       "longest_path_ns": usual[f"longest_path_{figure}"],
                       "interval_hit": -low - margin <= predicted - b <= high + margin})
    row = {"case": name, "fix": fix, "kind": one["kind"]}
    row |= {figure: statistics.median(r[figure] for r in rounds) for figure in rounds[0]}
    row["resolution"] = resolution([r["b_ns"] for r in rounds])
    row["interval_hit"] = sum(r["interval_hit"] for r in rounds) * 2 >= repeat
    for method in ("predicted", "subtraction", "longest_path"):
        row[f"{method}_error"] = row[f"{method}_ns"] / row["b_ns"] - 1
    return row


# Two errors nearer than this are equal.
EQUAL = 5e-4


def is_best(row, equal):
    """Not worse than either usual method."""
    usual = min(abs(row["subtraction_error"]), abs(row["longest_path_error"]))
    return abs(row["predicted_error"]) <= usual + equal


def resolution(steps):
    """How far the median of several runs may be from that of many: twice its standard error, as a share."""
    if len(steps) < 2:
        return 0
    return 2 * 1.2533 * statistics.stdev(steps) / math.sqrt(len(steps)) / statistics.median(steps)


def kendall_tau(xs, ys):
    pairs = [(i, j) for i in range(len(xs)) for j in range(i)]
    return sum(1 if (xs[i] - xs[j]) * (ys[i] - ys[j]) > 0 else -1 for i, j in pairs) / len(pairs)


def rank(runs, repeat):
    """The fixes of a run with several causes: (fix, predicted gain, measured gain) of the step, and Kendall's tau of the two orders."""
    common, fixes = RANKED[runs.device]
    figure = runs.figure("several causes")
    bad = [*common, *(argument for fix in fixes for argument in CAUSES[fix][0])]
    predicted, measured = {fix: [] for fix in fixes}, {fix: [] for fix in fixes}
    for _ in range(repeat):
        whatif = runs.predict(runs.record(bad), *fixes)
        a = whatif["baseline"][figure]
        for one in whatif["fixes"]:
            predicted[one["id"]].append(1 - one[figure] / a if one["applies"] else 0)
        for fix in fixes:
            measured[fix].append(1 - runs.step_ns([*bad, *CAUSES[fix][1]], figure) / a)
    rows = [(fix, statistics.median(predicted[fix]), statistics.median(measured[fix])) for fix in fixes]
    rows.sort(key=lambda row: -row[2])
    return rows, kendall_tau([row[1] for row in rows], [row[2] for row in rows])


def tolerance(row, known):
    return known.get(row["case"], (TOLERANCE[row["kind"]], ""))[0]


def summary(rows, device):
    errors = sorted(abs(row["predicted_error"]) for row in rows)
    best = sum(is_best(row, EQUAL) for row in rows)
    told = sum(is_best(row, max(EQUAL, row["resolution"])) for row in rows)
    with_ties = f" ({told} as far as the measured step can tell)" if device == "host" else ""
    return (f"median error {statistics.median(errors):.2%}, largest {errors[-1]:.2%}, largest residual "
            f"{max(row['residual'] for row in rows):.2%}, {sum(row['interval_hit'] for row in rows)} of {len(rows)} in the interval, "
            f"{best} of {len(rows)} not worse than both usual methods{with_ties}")


def markdown(rows, device, known, ranked, tau):
    lines = ["| switch | fix | kind | without | with, measured | with, predicted | error | in the interval | subtraction | longest path |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        told = f" ± {row['resolution']:.1%}" if row["resolution"] else ""
        lines.append(f"| {row['case']} | {row['fix']} | {row['kind']} | {row['a_ns'] / 1e6:.3f} ms | {row['b_ns'] / 1e6:.3f} ms{told} | "
                     f"{row['predicted_ns'] / 1e6:.3f} ms | {row['predicted_error']:+.1%} | {'yes' if row['interval_hit'] else 'no'} | "
                     f"{row['subtraction_error']:+.1%} | {row['longest_path_error']:+.1%} |")
    lines += ["", f"In sum: {summary(rows, device)}."]
    reasons = [f"- {row['case']}: {known[row['case']][1]}." for row in rows if row["case"] in known]
    if reasons:
        reasons = ["", "Off by more than 0.5 % (structural) or 2 % (modelled), and why:", "", *reasons]
    order = ["", f"One run with several causes, by what taking each away gains: Kendall's τ of the predicted and the measured order is {tau:.2f}.",
             "", "| fix | predicted gain | measured gain |", "|---|---|---|"]
    order += [f"| {fix} | {predicted:.1%} | {measured:.1%} |" for fix, predicted, measured in ranked]
    return "\n".join([time.strftime("Measured %Y-%m-%d."), "", *lines, *reasons, *order, ""])


def replace_section(file, name, text):
    """What stands between the two comments with that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    whole = file.read_text()
    before, rest = whole.split(begin)
    _, after = rest.split(end)
    file.write_text(before + begin + text + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--device", choices=["sim", "host"], default="sim")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--calibrated", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    cases = SIM if arguments.device == "sim" else HOST
    if arguments.calibrated and arguments.device != "sim":
        parser.error("--calibrated is for --device sim; on the host its figures are measured before")
    unknown = [name for name in arguments.only if name not in cases]
    if unknown:
        parser.error(f"unknown case: {', '.join(unknown)} (cases: {', '.join(cases)})")
    steps = arguments.steps or (40 if arguments.device == "sim" else 150)
    repeat = arguments.repeat or (1 if arguments.device == "sim" else 3)
    known = KNOWN_MISSES_CALIBRATED if arguments.calibrated else KNOWN_MISSES if arguments.device == "sim" else {}
    rows = []
    with tempfile.TemporaryDirectory(prefix="headway whatif ") as folder:
        runs = Runs(arguments.binaries.resolve(), arguments.device, steps, pathlib.Path(folder), arguments.calibrated)
        for name, case in cases.items():
            if arguments.only and name not in arguments.only:
                continue
            rows.append(validate(name, case, runs, repeat))
            row = rows[-1]
            print(f"{name:28} {row['fix']:22} {row['a_ns'] / 1e6:9.3f} ms -> {row['b_ns'] / 1e6:9.3f} ms, predicted "
                  f"{row['predicted_ns'] / 1e6:9.3f} ms, error {row['predicted_error']:+.2%} (subtraction {row['subtraction_error']:+.1%}, "
                  f"longest path {row['longest_path_error']:+.1%}), residual {row['residual']:.2%}", flush=True)
        ranked, tau = ([], 1.0) if arguments.only else rank(runs, repeat)
    print(summary(rows, arguments.device))
    for fix, predicted, measured in ranked:
        print(f"{fix:28} gain predicted {predicted:7.2%}, measured {measured:7.2%}")
    print(f"Kendall's tau of their order: {tau:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": arguments.device, "cases": rows, "ranked": ranked, "tau": tau}, indent=1) + "\n")
    if arguments.markdown:
        section = arguments.device + (", calibrated" if arguments.calibrated else "")
        replace_section(arguments.markdown, section, markdown(rows, arguments.device, known, ranked, tau))
    if arguments.check:
        wrong = [row["case"] for row in rows if abs(row["predicted_error"]) > tolerance(row, known) or row["residual"] > 0.01]
        if wrong:
            sys.exit(f"off by more than the tolerance: {', '.join(wrong)}")
        if tau < 0.8:
            sys.exit(f"the fixes are ranked wrongly: Kendall's tau {tau:.2f}")


if __name__ == "__main__":
    main()
