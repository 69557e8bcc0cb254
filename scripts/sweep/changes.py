"""Changes of a program by its switches: every single one that is tried, and which of them realise a fix.

What a fix sets in headway-train comes from headway itself (`setting` of `headway report --json`, the column headway-train of
docs/reference/fixes.md); only what it leaves open is declared in TRAINER_REALISED_BY. Of programs in PyTorch all is declared."""

# Fixes whose setting headway leaves open, or names as one of several. Alternatives, the switches of each set together. A value of a
# star stands for every value that may be tried, "x2" for twice, "-1" for one less.
TRAINER_REALISED_BY = {
    "no-casts": [{"precision": "amp-o2"}, {"precision": "bf16"}],
    "usual-steps": [{"worker_reuse": "on"}, {"pause_every": "0"}],
    "free-host": [{"slow_rank_ms": "0", "pause_every": "0"}, {"slow_rank_ms": "0"}, {"pause_every": "0"}],
    "no-pauses": [{"pause_every": "0"}],
    "even-ranks": [{"slow_rank_ms": "0"}, {"balance": "sorted"}],
    "fuse-chains": [{"fused_bn": "on", "fused_ln": "on", "fused_bias_act": "on", "fused_loss": "on", "graph_compiler": "on"}],
    "free-input": [{"workers": "*"}, {"prefetch": "*"}, {"source": "*"}, {"decode": "*"}, {"augment_on": "*"}],
    "larger-batch": [{"batch": "x2"}],
    "run-ahead": [{"run_ahead": "x2"}],
    "more-micro-batches": [{"micro_batches": "x2"}],
}

# The setting of headway-train that a fix names says nothing of a program in PyTorch.
PYTORCH_REALISED_BY = {
    "use-workers": [{"workers": "1"}, {"workers": "2"}],
    "more-workers": [{"workers": "2"}, {"workers": "4"}],
    "fewer-workers": [{"workers": "-1"}],
    "no-workers": [{"workers": "0"}],
    "free-input": [{"workers": "*"}, {"prefetch": "*"}, {"source": "*"}, {"decode": "*"}, {"collate": "*"}],
    "deeper-prefetch": [{"prefetch": "x2"}],
    "persistent-workers": [{"persistent_workers": "on"}],
    "decode-offline": [{"decode": "offline"}],
    "samples-in-memory": [{"source": "memory"}],
    "tensor-collate": [{"collate": "fast"}],
    "remove-syncs": [{"loss_read": "deferred"}],
    "deferred-read": [{"loss_read": "deferred"}],
    "multi-tensor-optimizer": [{"update": "foreach"}, {"update": "fused"}],
    "fused-update": [{"update": "fused"}],
    "evaluate-less-often": [{"eval_every": "x2"}],
    "checkpoint-less-often": [{"checkpoint_every": "x2"}],
    "asynchronous-checkpoint": [{"checkpoint": "beside"}],
    "no-layout-changes": [{"channels_last": "on"}],
    "larger-batch": [{"batch": "x2"}],
    "larger-buckets": [{"bucket_mb": "25"}],
    "smaller-buckets": [{"bucket_mb": "1"}],
    "overlap-communication": [{"find_unused": "off"}, {"static_graph": "on"}],
    "compress-gradients": [{"compress": "fp16"}],
    "exchange-once": [{"no_sync": "on"}],
    "even-ranks": [{"slow_rank_ms": "0"}],
    "usual-steps": [{"persistent_workers": "on"}, {"checkpoint_every": "0"}, {"eval_every": "0"}],
    "free-host": [{"slow_rank_ms": "0"}, {"checkpoint_every": "0"}, {"loss_read": "deferred"}],
}

# Switches whose other values give other results: numbers of a lower precision, another batch, no evaluation.
MEANING = {"precision", "compress", "batch", "accumulate", "eval_every", "checkpoint_every"}

# Texts and sentences are cut on the training thread, which costs a simulated run nothing.
OF_LOADERS = {"workers", "prefetch", "source", "decode", "augment_on", "worker_reuse"}

# Of the emulated machine or of a planted cause: nobody's change to make, but the cause of a finding to take away.
CAUSES = {"slow_rank_ms": "0"}
# Of a drawn machine, which does not tell whether it has any.
CAUSES_OF_WORLD = {"pause_every": "0"}


def takes_several_causes(switches):
    """A planted cause is taken away by one change, two of them by two."""
    return len(set(switches) & (set(CAUSES) | set(CAUSES_OF_WORLD))) > 1


def label(change):
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in change.items())


def alters_meaning(change):
    return bool(MEANING & set(change))


def parse_setting(text):
    """"--h2d prefetch --pinned on", "--fused-bn on, --graph-compiler on" -> switches with values; {} where a value is missing."""
    change = {}
    words = text.replace(",", " ").split()
    for i, word in enumerate(words):
        if word.startswith("--"):
            if i + 1 == len(words) or words[i + 1].startswith("--"):
                return {}
            change[word[2:].replace("-", "_")] = words[i + 1]
    return change


class Program:
    """A drawn program with what it says of its switches (`--switches`)."""

    def __init__(self, values, switches, realised_by, others=lambda now: []):
        """`others`: changes that the switches do not tell of, from the values that are set."""
        self.values, self.realised_by, self.others = values, realised_by, others
        self.now = {one["name"]: one["value"] for one in switches}
        self.tune = {one["name"]: one["tune"] for one in switches if one["tune"] and one["tune"]["matters"]}
        self.fixed = {one["name"] for one in switches if one["tune"] and not one["tune"]["matters"]}

    def differs(self, change):
        """The part of a change that changes something; None where the device has no such thing."""
        if any(name in self.fixed or name not in self.now for name in change):
            return None
        return {name: value for name, value in change.items() if not same(self.now[name], value)}

    def single_changes(self):
        """Every change of one switch: the values that may be tried, doubled and halved numbers, causes taken away. Another batch is
        done where a fix says so: it gains nearly always, and is another training."""
        found = []
        for name, tune in self.tune.items():
            if "values" in tune:
                found += [{name: value} for value in tune["values"]]
                continue
            now = float(self.now[name])
            for value in (max(2 * now, tune["least"]), now / 2):
                if tune["least"] <= value <= max(tune["most"], now) and value == int(value):
                    found.append({name: f"{int(value)}"})
        found += [{name: value} for name, value in CAUSES.items() if float(self.now[name]) > 0]
        found += [{name: value} for name, value in CAUSES_OF_WORLD.items() if int(self.now.get("world", 0)) > 0]
        return unique(change for change in map(self.differs, found + self.others(self.now)) if change)

    def realisations(self, fix, setting):
        """What a user would set for a fix: alternatives, none where it cannot be done here."""
        found = []
        for change in self.realised_by(fix, setting):
            change = {name: self.concrete(name, value) for name, value in change.items()}
            if "*" in change.values():
                found += [one for one in self.single_changes() if set(one) == set(change)]
            else:
                found.append(self.differs(change))
        return unique(change for change in found if change)

    def concrete(self, name, value):
        return str({"x2": 2 * int(self.now[name]), "-1": int(self.now[name]) - 1}[value]) if value in ("x2", "-1") else value


def of_trainer(values, switches):
    reads = next(one["value"] for one in switches if one["name"] == "model") in ("resnet", "ssd")

    def others(now):
        found = []
        if reads and float(now["workers"]) < 16:
            found.append({"workers": "16"})
        if int(now["ranks"]) > 1:
            found.append({"bucket_mb": "25"})
            if now["compress"] == "none":
                found.append({"compress": "fp16"})
        if now["balance"] == "random" and now["model"] == "gnmt":
            found.append({"balance": "sorted"})
        return found

    program = Program(values, switches, lambda fix, setting: TRAINER_REALISED_BY.get(fix) or [parse_setting(setting)], others)
    if not reads:
        program.tune = {name: tune for name, tune in program.tune.items() if name not in OF_LOADERS}
    return program


def of_pytorch(values, switches):
    restarts = any(one["name"] == "persistent_workers" and one["value"] == "off" for one in switches)

    def realised_by(fix, setting):
        """The number of workers is a setting in both; more of them live on, as the advice for PyTorch says."""
        said = parse_setting(setting)
        first = [{"workers": said["workers"]}] if fix in ("use-workers", "more-workers", "fewer-workers") and "workers" in said else []
        if fix in ("use-workers", "more-workers") and restarts:
            first = [{**change, "persistent_workers": "on"} for change in first]
        return first + PYTORCH_REALISED_BY.get(fix, [])

    return Program(values, switches, realised_by)


def same(a, b):
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b


def unique(changes):
    seen = {}
    for change in changes:
        seen.setdefault(label(change), change)
    return list(seen.values())
