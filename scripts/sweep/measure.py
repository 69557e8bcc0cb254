"""Runs programs and measures what a step costs, from the trainer's own clock; asks headway what it says."""
import hashlib
import json
import os
import shlex
import subprocess
import tempfile
import threading

TIMEOUT_S = 300


class Refused(Exception):
    """The trainer does not take this combination of switches."""


class Crashed(Exception):
    """A program ended in another way than it may; the text has its command line."""


def options(values):
    return [word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", value)]


def run(command, may_refuse=False):
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise Crashed(f"{shlex.join(command)}\nran for more than {TIMEOUT_S} s")
    if result.returncode == 2 and may_refuse:
        raise Refused(result.stderr.strip())
    if result.returncode not in (0, 1):
        raise Crashed(f"{shlex.join(command)}\nended with status {result.returncode}: {result.stderr.strip()[-500:]}")
    return result


class Kept:
    """What earlier runs of the same trainer measured, so that a change of the analyzer alone is judged in a third of the time."""

    def __init__(self, folder, train):
        self.folder = folder
        with open(train, "rb") as file:
            self.program = hashlib.file_digest(file, "sha256").hexdigest()
        os.makedirs(folder, exist_ok=True)

    def file(self, command, ending):
        return os.path.join(self.folder, hashlib.sha256(shlex.join([self.program, *command]).encode()).hexdigest()[:32] + ending)

    def costs(self, command):
        """Measured costs; None where nothing is kept. Refused as it was then."""
        try:
            with open(self.file(command, ".json")) as file:
                kept = json.load(file)
        except FileNotFoundError:
            return None
        if isinstance(kept, str):
            raise Refused(kept)
        return kept

    def keep(self, command, what):
        name = self.file(command, ".json")
        with open(f"{name}.{os.getpid()}.{threading.get_ident()}", "w") as file:
            json.dump(what, file)
        os.replace(file.name, name)


class Tools:
    def __init__(self, headway, train, device, keep=None):
        self.headway, self.train, self.device = str(headway), str(train), device
        self.kept = Kept(keep, train) if keep else None
        self.defaults = {one["name"]: one["value"] for one in self.switches({"device": device})}

    def switches(self, values):
        text = run([self.train, *options(values), "--switches"], may_refuse=True).stdout
        return json.loads(text)["switches"]

    def step_cost_ns(self, values, repeat=1):
        """Wall time from the first steady step to the last one, per step: with what lies between steps. Of several runs the middle one."""
        command = [*options(values), f"x{repeat}"]
        costs = self.kept and self.kept.costs(command)
        if not costs:
            try:
                costs = [self.run_once(values) for _ in range(repeat)]
            except Refused as refused:
                if self.kept:
                    self.kept.keep(command, str(refused))
                raise
            if self.kept:
                self.kept.keep(command, costs)
        return sorted(costs)[len(costs) // 2]

    def record(self, values, trace):
        """Records the program. (The trace, what its step costs.)"""
        if not self.kept:
            return trace, self.run_once(values, trace)
        command = [*options(values), "recorded"]
        trace = self.kept.file(command, ".sqlite")
        costs = self.kept.costs(command)
        if not costs or not os.path.exists(trace):
            try:
                costs = [self.run_once(values, trace)]
            except Refused as refused:
                self.kept.keep(command, str(refused))
                raise
            self.kept.keep(command, costs)
        return trace, costs[0]

    def run_once(self, values, trace=None):
        with tempfile.TemporaryDirectory(prefix="headway sweep ") as folder:
            metrics = os.path.join(folder, "metrics.json")
            command = [self.train, *options(values), "--quiet", "--metrics", metrics]
            if trace and os.path.exists(trace):
                os.remove(trace)
            if trace and self.device == "sim":
                command += ["--trace", trace]
            elif trace:
                command = [self.headway, "record", "--force", "-o", trace, "--", *command]
            run(command, may_refuse=True)
            with open(metrics) as file:
                return step_cost_ns(json.load(file))

    def report(self, trace):
        return json.loads(run([self.headway, "report", trace, "--json", "--predict", "yes"]).stdout)

    def what_if(self, trace):
        return json.loads(run([self.headway, "whatif", trace, "--json"]).stdout)


def step_cost_ns(metrics):
    steps = metrics["steps"]
    first, last = metrics["warm_up_steps"], len(steps) - 1
    if last <= first:
        raise Crashed("too few steps to judge")
    return (steps[last]["start_s"] - steps[first]["start_s"]) / (last - first) * 1e9
