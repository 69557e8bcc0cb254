"""Draws a random program in PyTorch (programs/train.py). Values come from ranges in which a step takes some 5 to 50 ms."""
import random

from sweep.draw import Draw


def draw(seed, index, attempt):
    d = Draw(random.Random(f"{seed}/{index}/{attempt}"))
    model = d.one("model", ["vision", "language", "detection"])
    ranks = d.one("ranks", [1, 2], [3, 1])
    if model == "language":
        d.one("width", [32, 64])
        d.one("size", [16, 32])
        d.one("batch", [2, 4, 8])
    else:
        d.one("width", [8, 16])
        d.one("size", [32, 48])
        d.one("batch", [4, 8, 16])
    d.one("depth", [1, 2, 3])
    if model != "language":
        d.one("channels_last", ["off", "on"])
    d.one("optimizer", ["sgd", "adamw"])
    d.one("update", ["for-loop", "foreach", "fused"], [3, 1, 1])
    d.one("accumulate", [1, 2], [3, 1])
    d.flawed("loss_read", "deferred", ["step"])
    loading(d)
    if ranks == "2":
        distributed(d)
    d.one("epoch_steps", [16, 32, 64])
    d.set("epochs", 192 // int(d.values["epoch_steps"]))
    if d.random.random() < d.flaw:
        d.one("eval_every", [4, 8])
    if d.random.random() < d.flaw:
        d.one("checkpoint_every", [4, 8])
    return d.values


def loading(d):
    d.one("source", ["files", "memory"], [4, 1])
    d.one("decode", ["step", "offline"], [3, 2])
    d.flawed("collate", "fast", ["slow"])
    if d.values["source"] == "files" and d.random.random() < 0.4:
        of_a_batch = d.random.choice([2, 5, 10, 20, 40])
        d.set("storage_ms", float(of_a_batch / int(d.values["batch"])))
    if d.one("workers", [0, 1, 2], [2, 1, 1]) != "0":
        d.one("prefetch", [2, 4])
        d.flawed("persistent_workers", "on", ["off"])


def distributed(d):
    d.one("bucket_mb", [25, 1, 0.05])
    d.flawed("no_sync", "on", ["off"])
    d.one("static_graph", ["off", "on"], [3, 1])
    d.flawed("find_unused", "off", ["on"])
    d.one("compress", ["none", "fp16"], [4, 1])
    if d.random.random() < d.flaw:
        d.set("slow_rank_ms", d.random.choice([2, 5, 10, 20]))
