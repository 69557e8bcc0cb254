"""Runs programs and measures what a step costs, from the trainer's own clock; asks headway what it says."""
import json
import os
import shlex
import subprocess
import tempfile

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


class Tools:
    def __init__(self, headway, train, device):
        self.headway, self.train, self.device = str(headway), str(train), device
        self.defaults = {one["name"]: one["value"] for one in self.switches({"device": device})}

    def switches(self, values):
        text = run([self.train, *options(values), "--switches"], may_refuse=True).stdout
        return json.loads(text)["switches"]

    def step_cost_ns(self, values, trace=None, repeat=1):
        """Wall time from the first steady step to the last one, per step: with what lies between steps. Of several runs the middle one."""
        costs = []
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(prefix="headway sweep ") as folder:
                metrics = os.path.join(folder, "metrics.json")
                command = [self.train, *options(values), "--quiet", "--metrics", metrics]
                if trace and self.device == "sim":
                    command += ["--trace", trace]
                elif trace:
                    command = [self.headway, "record", "--force", "-o", trace, "--", *command]
                run(command, may_refuse=True)
                with open(metrics) as file:
                    costs.append(step_cost_ns(json.load(file)))
        return sorted(costs)[len(costs) // 2]

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
