"""Draws a random program: every switch of headway-train, by a generator that seed and index decide.

A switch is drawn here or stands in NOT_DRAWN with the reason; `missing` names those that do neither.
Values come from ranges that are wide on purpose. No range is chosen by what the analyzer finds. On the host the median
step takes some 16 ms: steps of 1 to 3 ms are lost in what waking a thread takes."""
import math
import random

GPUS = ["v100", "t4", "a100-40gb", "a100-80gb", "a10", "h100-pcie", "h100-sxm", "h200", "b200", "l40s", "l4", "rtx-4090"]

NOT_DRAWN = {
    "epochs": "steps decide", "eval": "off: no part of a step", "eval_samples": "eval is off",
    "learning_rate": "no time depends on it", "momentum": "no time depends on it", "weight_decay": "no time depends on it",
    "data_dir": "data is generated", "picture_dir": "data is generated", "box_dir": "data is generated",
    "text_dir": "data is generated", "pairs_dir": "data is generated", "cache_dir": "where, not what",
    "dgc_warm_up": "0: the ratio of the steady state", "comm": "sim and host have one way each",
    "comm_timeout_s": "nothing times out", "cuda_graph": "off; on is a change where the device has graphs",
    "seed": "decides data, which is laid out once; noise has the seed of the world",
    "device": "an option of the sweep", "threads": "what the machine has",
    "memory_gb_per_s": "the simulated GPU's own; on the host an emulation that would hide the arithmetic",
    "clock": "a power limit is nobody's change to make", "read_first_ms": "before the steps",
    "module_loading": "needs load_code_ms", "load_code_ms": "an emulation of code that a simulated program has not",
    "world": "an option of the sweep", "device_schedule": "of the host device's waiting, not of a GPU's",
    **dict.fromkeys(("mode", "infer_precision", "checkpoint", "train_steps", "calibrate_by", "calibrate_percentile", "calibrate_samples", "fold_bn",
                     "fused_epilogue", "generate", "kv_cache"), "of inference: the sweep trains"),
    **dict.fromkeys(("pause_every", "pause_ms", "pause_growth_ms", "pause_for"), "the drawn world's"),
    "storage": "the drawn world's",
    **dict.fromkeys(("shard_mb", "shard_read", "shard_split", "host_memory_gb"), "shards of scripts/storage_study.py; here a batch's part is one request"),
    **dict.fromkeys(("tensor_parallel", "sequence_parallel"), "shares one batch: no change of a run of data parallelism"),
    **dict.fromkeys(("experts", "expert_choices", "expert_capacity", "expert_parallel", "router_imbalance"),
                    "not yet: even-experts is measured by tests of simulated traces and the table of systems alone"),
    **dict.fromkeys(("matching", "dgc_clip", "local_steps"), "trains another way: off, and nobody's change to make for time alone"),
    "split_k": "off; on is a change where products leave multiprocessors without work",
}


class Draw:
    """Switches by name, in the order drawn. `flaw` is how often a setting is a bad one: some programs are nearly clean."""

    def __init__(self, generator):
        self.random = generator
        self.values = {}
        self.flaw = generator.choice([0.05, 0.15, 0.35])

    def set(self, name, value):
        self.values[name] = value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)

    def one(self, name, values, weights=None):
        self.set(name, self.random.choices(values, weights)[0])
        return self.values[name]

    def flawed(self, name, good, bad):
        """Mostly the good value, now and then one of the bad ones."""
        self.set(name, self.random.choice(bad) if self.random.random() < self.flaw else good)
        return self.values[name]

    def between(self, name, low, high, digits=3):
        """Even on a logarithmic scale."""
        self.set(name, float(f"{math.exp(self.random.uniform(math.log(low), math.log(high))):.{digits}g}"))

    def some(self, name, chance, low, high):
        """0 (not emulated), or something in the range."""
        if self.random.random() < chance:
            self.between(name, low, high)
        else:
            self.set(name, 0)

    def power(self, name, low, high):
        self.set(name, 2 ** self.random.randint(low, high))
        return int(self.values[name])


def draw(seed, index, attempt, device, world=True):
    """The program of a case. Attempts follow one another where the trainer refuses a combination."""
    d = Draw(random.Random(f"{seed}/{index}/{attempt}"))
    host = device == "host"
    d.set("device", device)
    d.set("eval", "off")
    if not host:
        d.one("gpu", GPUS)
        d.some("jitter", 0.5, 0.005, 0.15)
        d.one("host_cores", [2, 4, 8, 16, 64])
        if world:
            d.set("world", d.random.randint(1, 10**9))
    model = d.one("model", ["resnet", "transformer", "gnmt", "ssd"], [4, 4, 1.5, 1.5])
    {"resnet": resnet, "transformer": transformer, "gnmt": gnmt, "ssd": ssd}[model](d, host)
    d.one("optimizer", ["auto", "sgd", "adam", "lamb", "lars"], [4, 1, 2, 1, 1])
    d.flawed("fused_optimizer", "multi-tensor", ["off", "off", "parameter"])
    d.flawed("fused_loss", "on", ["off"])
    d.flawed("graph_compiler", "on", ["off", "off", "interpreted"])
    d.one("precision", ["fp32", "tf32", "amp-o1", "amp-o2", "bf16"], [3, 2, 1, 2, 3])
    launches(d, host)
    if d.random.random() < 0.45:
        ranks(d, host)
    share_model(d, random.Random(f"{seed}/{index}/{attempt}/share"), host)
    exchange_often(d, random.Random(f"{seed}/{index}/{attempt}/exchange"))
    if model in ("resnet", "ssd"):
        samples(d)
        d.flawed("dgrad", "fast", ["slow"])
    return d.values


def samples(d):
    """Few sizes of data, because each is generated and laid out once. An epoch is eight steps at least where workers start anew."""
    now = d.values
    sizes = (500, 2000) if now["model"] == "ssd" or now["data"] == "generated-pictures" else (1000, 4000, 16000)
    together = int(now.get("ranks", 1)) * int(now.get("accumulate", 1))
    while int(now["batch"]) * together > sizes[-1]:
        d.set("batch", int(now["batch"]) // 2)
    step = int(now["batch"]) * together
    if now["worker_reuse"] == "off" and 16 * step <= sizes[-1]:
        d.set("samples", step * d.random.choice([8, 16]))
    else:
        d.set("worker_reuse", "on")  # an epoch of a few steps is no training
        d.set("samples", next(size for size in sizes if size >= step))


def resnet(d, host):
    d.one("depth", [8, 14, 20, 26] if host else [8, 14, 20, 26, 32, 44, 50, 56])
    d.one("width", [8, 16] if host else [8, 16, 32, 64])
    d.power("batch", 2 if host else 0, 5 if host else 10)
    d.flawed("fused_bn", "on", ["off"])
    d.flawed("layout", "nhwc", ["nchw"])
    pictures = d.one("data", ["generated", "generated-pictures"], [2, 1]) == "generated-pictures"
    if pictures:
        d.one("image_size", [32, 64] if host else [32, 64, 96, 128])
    images(d, host, pictures)


def ssd(d, host):
    d.one("depth", [8, 14, 20])
    d.one("width", [8, 16] if host else [8, 16, 32])
    d.power("batch", 2 if host else 0, 4 if host else 7)
    d.flawed("fused_bn", "on", ["off"])
    d.flawed("layout", "nhwc", ["nchw"])
    d.flawed("assign", d.random.choice(["loader", "batched"]), ["per-sample"])
    d.flawed("coords", "device", ["host-round-trip"])
    d.one("data", ["generated", "generated-pictures"])
    d.one("image_size", [32, 64] if host else [32, 64, 128])
    images(d, host, True)


def transformer(d, host):
    d.one("data", ["generated"])
    heads = d.one("heads", [2, 4, 8, 16])
    d.set("features", int(heads) * d.random.choice([16, 32] if host else [8, 16, 32, 64]))
    d.one("layers", [1, 2, 4] if host else [1, 2, 4, 6, 8, 12])
    sequence = d.power("sequence", 5 if host else 4, 7 if host else 9)
    d.power("batch", 1 if host else 0, 3 if host else 6)
    d.set("window", d.random.choice([0, 0, 0, sequence // 4, sequence // 2]))
    d.one("dropout", [0, 0.1])
    d.flawed("fused_ln", "on", ["off"])
    d.flawed("fused_attention", "on", ["off"])
    d.flawed("fused_bias_act", "on", ["off"])
    copies(d)


def gnmt(d, host):
    d.one("data", ["generated"])
    d.one("features", [64, 128, 256] if host else [64, 128, 256, 512])
    d.one("layers", [1, 2] if host else [1, 2, 4])
    d.power("sequence", 3, 4 if host else 5)
    d.power("batch", 2 if host else 0, 4 if host else 7)
    d.one("dropout", [0, 0.1])
    d.flawed("rnn", "persistent", ["standard"])
    d.flawed("balance", "sorted", ["random"])
    copies(d)


def images(d, host, pictures):
    d.one("source", ["files", "shards", "memory"], [3, 4, 2])
    d.one("decode", ["step", "offline", "device"] if pictures else ["step", "offline"], [5, 3, 1] if pictures else [5, 3])
    d.one("augment", ["on", "off"], [4, 1])
    d.one("augment_on", ["workers", "device"], [4, 1])
    d.one("workers", [0, 1, 2, 4, 8, 16, 32], [1, 3, 3, 3, 2, 2, 1])
    d.one("prefetch", [1, 2, 4, 8, 16])
    d.one("shuffle", ["on", "off"], [4, 1])
    d.flawed("worker_reuse", "on", ["off"])
    if d.values["worker_reuse"] == "off":
        d.some("worker_start_ms", 0.8, 1, 300)
    if d.values["source"] != "memory":
        d.some("storage_latency_ms", 0.4, 0.01, 3)
        d.some("storage_mb_per_s", 0.35, 0.5, 2000)
    copies(d)


def copies(d):
    d.flawed("pinned", "on", ["off"])
    d.flawed("h2d", "prefetch", ["async", "async", "blocking"])
    d.some("link_mb_per_s", 0.2, 50, 20000)


def launches(d, host):
    d.flawed("sync", "never", ["op", str(d.random.randint(2, 40))])
    d.flawed("loss_read", "deferred", ["step"])
    d.one("loss_every", [1, 10], [4, 1])
    d.one("run_ahead", [1, 2, 4], [1, 4, 1])
    d.some("launch_us", 0.45, 1, 40)
    d.flawed("allocator", "caching", ["raw"])


def ranks(d, host):
    count = 2 if host else d.one("ranks", [2, 4, 8, 16], [3, 4, 3, 1])
    d.set("ranks", count)
    d.one("ranks_per_node", [1, 2] if host else [1, 2, 4, 8])
    d.flawed("overlap", "on", ["off"])
    size = d.random.choice([(1, 25), (1, 25), (1, 25), (0, 0), (1, 5), (0.25, 1), (1, 100)])
    d.set("first_bucket_mb", size[0])
    d.set("bucket_mb", size[1])
    d.one("accumulate", [1, 2, 4], [6, 1, 1])
    d.one("compress", ["none", "fp16", "int8", "dgc", "powersgd"], [8, 1, 1, 1, 1])
    if d.values["compress"] == "dgc":
        d.between("dgc_density", 0.001, 0.1)
        d.set("dgc_warm_up", 0)
    if d.values["compress"] == "powersgd":
        d.one("powersgd_rank", [1, 2, 4])
    d.one("topology", ["flat", "hierarchical", "parameter-server"], [5, 3, 2])
    d.some("network_gb_per_s", 0.6, 0.01 if host else 0.5, 1 if host else 100)
    d.some("network_us", 0.4, 2, 100)
    d.some("node_gb_per_s", 0.3, 1, 400)
    if d.random.random() < d.flaw:
        d.set("slow_rank", d.random.randrange(int(count)))
        d.between("slow_rank_ms", 0.1, 30)


def share_model(d, generator, host):
    """Blocks computed twice; now and then ranks that share the parameters, or are stages of a pipeline, which excludes other exchanges.
    By a generator of its own, so that the rest of a case is what it was before there were such switches."""
    values = d.values
    model, ranks = values["model"], int(values.get("ranks", 1))
    if model == "transformer" and generator.random() < d.flaw / 2:
        d.set("recompute", "on")
    if host or ranks == 1 or generator.random() > 0.15:
        return
    for name, value in {"compress": "none", "topology": "flat", "accumulate": 1}.items():
        d.set(name, value)
    if model == "transformer" and int(values["layers"]) >= ranks and generator.random() < 0.6:
        d.set("pipeline", generator.choice(["1f1b", "gpipe"]))
        d.set("micro_batches", generator.choice([size for size in (1, 2, 4, 8, 16) if size <= int(values["batch"])]))
        return
    d.set("shard_parameters", "on")
    if generator.random() < d.flaw:
        d.set("gather_prefetch", "off")
    if values["optimizer"] in ("lamb", "lars"):
        d.set("optimizer", "auto")


def exchange_often(d, generator):
    """Accumulated gradients that are exchanged after each batch. By a generator of its own, as above."""
    values = d.values
    shared = "pipeline" in values or values.get("shard_parameters") == "on"
    if int(values.get("accumulate", 1)) > 1 and int(values.get("ranks", 1)) > 1 and not shared and generator.random() < d.flaw:
        d.set("sum_each_batch", "on")


def steps_of(values):
    """Enough steps that bursts of workers and the ends of epochs are in them as often as in a long run."""
    workers = int(values.get("workers", 1))
    return 120 if values.get("worker_reuse") == "off" else max(48, 6 * workers + 12)


def missing(switches):
    """Switches of the trainer that are neither drawn nor left out on purpose."""
    drawn = set(NOT_DRAWN) | {"steps"}
    for index in range(600):
        drawn |= set(draw(0, index, 0, "sim"))
    return sorted(set(switches) - drawn)
