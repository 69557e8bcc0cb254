"""Runs programs and measures what a step costs, from their own clock; asks headway what it says."""
import hashlib
import json
import math
import os
import pathlib
import select
import shlex
import signal
import statistics
import subprocess
import tempfile
import threading
import time

from sweep import changes, draw, draw_pytorch

TIMEOUT_S = 300
MOST_WAIT = 0.02  # share of the steps for which they wait for input, up to which it does not matter when batches are made
RUN_TIMEOUT_S = 60  # of a program in PyTorch, which runs for seconds
RECORDINGS = 3  # of a program on a machine, of which the fastest is judged
MEASURED_STEPS = 64  # of a program in PyTorch, in one run, after the first epoch


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

    def __init__(self, folder, program):
        """`program`: the files that it consists of."""
        self.folder, digest = folder, hashlib.sha256()
        for name in program:
            with open(name, "rb") as file:
                digest.update(file.read())
        self.program = digest.hexdigest()
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


def busy():
    """Processor time of the machine that was not idle, and all of it, in ticks."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def wait_for_quiet(patience_s):
    """Until others leave nine tenths of the processors alone. What they took at last, as a share."""
    end = time.monotonic() + patience_s
    while True:
        before, whole = busy()
        time.sleep(0.5)
        after, all_ = busy()
        share = (after - before) / max(1, all_ - whole)
        if share < 0.1 or time.monotonic() > end:
            return share


class Tools:
    """Runs headway, and headway-train on the simulated device, whose clock is its own, or on the host."""

    def __init__(self, headway, train, device, keep=None):
        self.headway, self.train, self.device = str(headway), [str(train)], device
        self.kept = Kept(keep, self.train) if keep else None
        self.set_always = {"device": device}
        self.defaults = {one["name"]: one["value"] for one in self.switches(self.set_always)}

    simulated = property(lambda self: self.device == "sim")

    def draw(self, seed, index, attempt, world):
        values = draw.draw(seed, index, attempt, self.device, world)
        return {**values, "steps": str(draw.steps_of(values))}

    def program(self, values):
        return changes.of_trainer(values, self.switches(values))

    def shell(self, values):
        command = shlex.join(["headway-train", *options(values)])
        return f"rm -f case.sqlite; {command} --quiet --trace case.sqlite && headway report case.sqlite --predict yes"

    def switches(self, values):
        text = run([*self.train, *options(values), "--switches"], may_refuse=True).stdout
        return json.loads(text)["switches"]

    def step_costs_ns(self, programs, repeat=1):
        """Wall time from the first steady step to the last one, per step: with what lies between steps; None where the program refuses.
        On a machine all programs run in turns, and the fastest run of each counts: what else runs there only adds time. Rounds that are
        kept count, too."""
        commands, costs, refused = [], [], set()
        for values in programs:
            command = [*options(values), "measured"]
            while command in commands:
                command.append("again")
            commands.append(command)
            try:
                costs.append(self.kept and self.kept.costs(command) or [])
            except Refused:
                costs.append([])
                refused.add(len(commands) - 1)
        for done in range(repeat):
            for i, values in enumerate(programs):
                if i in refused or len(costs[i]) > done:
                    continue
                try:
                    costs[i].append(self.run_once(self.shortened(values)))
                    if self.kept:
                        self.kept.keep(commands[i], costs[i])
                except Refused as reason:
                    refused.add(i)
                    if self.kept:
                        self.kept.keep(commands[i], str(reason))
        return [None if i in refused else min(one) for i, one in enumerate(costs)]

    def shortened(self, values):
        """The program as it is measured, in many short runs."""
        return values

    def record(self, values, trace):
        """Records the program; on a machine several times, and keeps the fastest recording, as of all other runs. (The trace, what its
        step costs.)"""
        command = [*options(values), "recorded"]
        if self.kept:
            trace = self.kept.file(command, ".sqlite")
            costs = self.kept.costs(command)
            if costs and os.path.exists(trace):
                return trace, costs[0]
        try:
            cost = self.run_once(values, trace)
        except Refused as refused:
            if self.kept:
                self.kept.keep(command, str(refused))
            raise
        for _ in range(0 if self.simulated else RECORDINGS - 1):
            other = f"{trace}.other.sqlite"
            if (again := self.run_once(values, other)) < cost:
                os.replace(other, trace)
                cost = again
            else:
                os.remove(other)
        if self.kept:
            self.kept.keep(command, [cost])
        return trace, cost

    def run_once(self, values, trace=None):
        with tempfile.TemporaryDirectory(prefix="headway sweep ") as folder:
            metrics = os.path.join(folder, "metrics.json")
            words = [*options(values), "--quiet", "--metrics", metrics]
            if trace and os.path.exists(trace):
                os.remove(trace)
            if trace and self.simulated:
                run([*self.train, *words, "--trace", trace], may_refuse=True)
            elif trace:
                run([self.headway, "record", "--force", "-o", trace, "--", *self.train, *words], may_refuse=True)
            else:
                self.run_program(words)
            with open(metrics) as file:
                told = json.load(file)
            return step_cost_ns(told, self.simulated) if trace or "epoch_steps" not in told else epoch_step_cost_ns(told)

    def run_program(self, words):
        run([*self.train, *words], may_refuse=True)

    def report(self, trace):
        return json.loads(run([self.headway, "report", trace, "--json", "--predict", "yes"]).stdout)


PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class PyTorchTools(Tools):
    """Runs programs/train.py: recorded as users do, otherwise as a fork of a process that has imported PyTorch."""

    def __init__(self, headway, python, keep=None):
        self.headway, self.train, self.device = str(headway), [str(python), str(PROGRAMS / "train.py")], "pytorch"
        self.kept = Kept(keep, sorted(str(file) for file in PROGRAMS.glob("*.py"))) if keep else None
        self.defaults = {one["name"]: one["value"] for one in self.switches({})}
        self.set_always = {}
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.start()

    def start(self):
        pipe = subprocess.PIPE
        command = [*self.train, "--serve"]
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True, process_group=0)

    def draw(self, seed, index, attempt, world):
        return draw_pytorch.draw(seed, index, attempt)

    def program(self, values):
        return changes.of_pytorch(values, self.switches(values))

    def shell(self, values):
        command = shlex.join(["python3", "scripts/sweep/programs/train.py", *options(values)])
        return f"headway record --force -o case.sqlite -- {command} && headway report case.sqlite --predict yes"

    def shortened(self, values):
        return {**values, "epochs": str(1 + max(1, MEASURED_STEPS // int(values.get("epoch_steps", self.defaults["epoch_steps"]))))}

    def run_program(self, words, again=True):
        begin = self.errors.tell()
        try:
            self.server.stdin.write(json.dumps(words) + "\n")
            self.server.stdin.flush()
            ready, _, _ = select.select([self.server.stdout], [], [], RUN_TIMEOUT_S)
            status = self.server.stdout.readline().strip() if ready else f"none after {RUN_TIMEOUT_S} s"
        except BrokenPipeError:
            begin, ready, status = 0, True, "none, it ended before"
        if not ready:  # ranks that compress gradients wait for one another for ever now and then
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
            self.start()
            if again:
                return self.run_program(words, again=False)
        if status != "0":
            self.errors.seek(begin)
            text = f"{shlex.join([*self.train, *words])}\nended with status {status}: {self.errors.read().strip()[-500:]}"
            raise Refused(text) if status == "2" else Crashed(text)
        return None


def epoch_step_cost_ns(metrics):
    """Per step of the fastest epoch after the first. For seconds at a time other machines on the same processors slow all steps by up to a
    half; what belongs to an epoch (workers that start, an evaluation) is in each. The fastest of each place in it would be too fast: steps
    that wait for batches take turns."""
    length, starts = metrics["epoch_steps"], [*(one["start_s"] for one in metrics["steps"]), metrics["end_s"]]
    begins = range(length, len(starts) - length, length)
    if not begins:
        raise Crashed("too few epochs to judge")
    return min(starts[begin + length] - starts[begin] for begin in begins) / length * 1e9


def whole_waves(steps, metrics):
    """Of so many steps those that the same number of batches is made in. Workers that live on make a batch each and begin together: the first
    wave comes before the first step is over, and steps that use up the last one count work that was done before. Where steps hardly wait
    for batches, all count: a step less could leave out a pause."""
    settings = metrics.get("settings", {})
    at_once = min(int(settings.get("workers", 0)), max(1, int(settings.get("prefetch", 1))))
    each = at_once // math.gcd(at_once, int(settings.get("accumulate", 1))) if at_once else 1
    waits = metrics.get("input_wait_share", 1) > MOST_WAIT
    if not waits or at_once < 2 or settings.get("worker_reuse") == "off" or steps < each:
        return steps
    return steps - steps % each


def as_graphs(lasts, first):
    """Steps before there is a graph, as those with one: the first step for each of two batches in memory runs op by op and is captured. Counted as
    it is, it made steps with a graph up to 19 % longer in runs of 48 (docs/design/0053-what-fresh-seeds-showed.md)."""
    eager = max(0, 2 - first)
    usual = statistics.median(lasts)
    return [min(last, usual) for last in lasts[:eager]] + lasts[eager:]


def step_cost_ns(metrics, simulated):
    """Wall time per step after the first ones; of a program that tells when it ended, up to there: whole epochs, what comes between them as well.
    A host that gets ahead of the device begins steps sooner than they end, so where the device tells, its ends count. A simulated device has
    nothing to warm up but a page cache: there the steps are those that a report judges, so that a pause of the host before the last one counts on
    neither side."""
    done = [one.get("device_end_s") for one in metrics["steps"]]
    if done and None not in done:
        first = metrics["warm_up_steps"]
        if simulated:
            cold = metrics.get("cold_steps", 0)
            first = cold - 1 if 0 < cold <= first else 0
            done.pop()
            done = done[:first + whole_waves(len(done) - 1 - first, metrics) + 1]
        if len(done) < first + 2:
            raise Crashed("too few steps to judge")
        lasts = [after - before for before, after in zip(done[first:], done[first + 1:])]
        if simulated and metrics.get("settings", {}).get("cuda_graph") == "on":
            lasts = as_graphs(lasts, first)
        return sum(lasts) / len(lasts) * 1e9
    steps = [one["start_s"] for one in metrics["steps"]]
    # Before the host has run ahead as far as it may, steps begin sooner than the device ends them.
    ahead = int(metrics.get("settings", {}).get("run_ahead", 0))
    first = max(metrics["warm_up_steps"], ahead + 1)
    ends = [*steps[1:], *([metrics["end_s"]] if "end_s" in metrics else [])]
    if len(ends) <= first:
        raise Crashed("too few steps to judge")
    return (ends[-1] - steps[first]) / (len(ends) - first) * 1e9
