"""What a program can be told. Imports nothing of PyTorch, so that asking for it is quick."""
import json


class Switch:
    """`tried`: the values that a user of the program may try; none where the switch says what is trained, and on what machine."""

    def __init__(self, name, default, legal, tried=(), matters=lambda now: True):
        self.name, self.default, self.legal, self.tried, self.matters = name, default, legal, tried, matters


def pictures(now):
    return now["model"] != "language"


def loads_beside(now):
    return int(now["workers"]) > 0


def distributed(now):
    return int(now["ranks"]) > 1


def saves(now):
    return int(now["checkpoint_every"]) > 0


def stored(now):
    return now["source"] == "files"


SWITCHES = [
    Switch("model", "vision", ["vision", "language", "detection"]),
    Switch("width", "16", int), Switch("depth", "2", int),
    Switch("size", "32", int),  # pixels, or tokens of a sequence
    Switch("batch", "16", int), Switch("epoch_steps", "20", int), Switch("epochs", "3", int),
    Switch("source", "files", ["files", "memory"], ["memory"]),
    Switch("decode", "step", ["step", "offline"], ["offline"], stored),
    Switch("storage_ms", "0", float),  # what the storage takes to answer
    Switch("collate", "fast", ["fast", "slow"], ["fast"]),
    Switch("workers", "0", int, ["0", "1", "2"]),
    Switch("prefetch", "2", int, ["2", "4"], loads_beside),
    Switch("persistent_workers", "on", ["on", "off"], ["on"], loads_beside),
    Switch("memory", "kept", ["kept", "returned"]),  # what is freed; returned: as the C library does by itself
    Switch("channels_last", "off", ["on", "off"], ["on", "off"], pictures),
    Switch("optimizer", "sgd", ["sgd", "adamw"]),
    Switch("update", "for-loop", ["for-loop", "foreach", "fused"], ["for-loop", "foreach", "fused"]),
    Switch("loss_read", "deferred", ["deferred", "step"], ["deferred"]),
    Switch("accumulate", "1", int),
    Switch("eval_every", "0", int, ["0"]), Switch("checkpoint_every", "0", int, ["0"]),
    Switch("checkpoint", "step", ["step", "beside"], ["beside"], saves),
    Switch("ranks", "1", int),
    Switch("bucket_mb", "25", float, ["25", "1"], distributed),
    Switch("no_sync", "on", ["on", "off"], ["on"], lambda now: distributed(now) and int(now["accumulate"]) > 1),
    Switch("static_graph", "off", ["on", "off"], ["on"], distributed),
    Switch("find_unused", "off", ["on", "off"], ["off"], distributed),
    Switch("compress", "none", ["none", "fp16"], ["none", "fp16"], distributed),
    Switch("slow_rank_ms", "0", float),  # what the last rank is late each step
]


class Wrong(Exception):
    """A combination that the program does not take."""


def parse(words):
    """Values of all switches, and what else was said: {"metrics": …}."""
    values, others = {one.name: one.default for one in SWITCHES}, {}
    legal = {one.name: one.legal for one in SWITCHES}
    while words:
        name = words.pop(0).removeprefix("--").replace("-", "_")
        if name in ("switches", "serve", "quiet"):
            others[name] = True
        elif name in ("metrics", "data_dir", "rank", "rendezvous"):
            others[name] = words.pop(0)
        elif name in legal:
            values[name] = checked(name, words.pop(0), legal[name])
        else:
            raise Wrong(f"--{name}: no such switch")
    if int(values["workers"]) == 0 and values["persistent_workers"] == "off":
        raise Wrong("--persistent-workers off: there are no workers")
    quiet = int(values["accumulate"]) > 1 and values["no_sync"] == "on"
    if distributed(values) and values["static_graph"] == "on" and quiet:
        raise Wrong("--static-graph on: the first backward pass must synchronise, so not with no_sync()")
    return values, others


def checked(name, text, legal):
    try:
        if isinstance(legal, list) and text not in legal or not isinstance(legal, list) and legal(text) < 0:
            raise ValueError
    except ValueError:
        raise Wrong(f"--{name} {text}") from None
    return text


def described(values):
    """As JSON, in the form of `headway-train --switches`."""
    rows = [{"name": one.name, "value": values[one.name],
             "tune": {"values": list(one.tried), "matters": one.matters(values)} if one.tried else None} for one in SWITCHES]
    return json.dumps({"switches": rows})
