#!/usr/bin/env python3
"""The walk through published cases: scenarios_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts"))

from scenarios import SCENARIOS, Scenario, Walk, markdown, summary, switches, verdict  # noqa: E402
from sweep.measure import Tools  # noqa: E402


def advice(*fixes):
    return {"findings": [{"rule": "rule", "status": "found", "fixes": [{"fix": name, "setting": setting} for name, setting in fixes]}]}


class Pretended(Tools):
    """Costs add up over switches that are still slow; advice is what the test says, report by report."""

    def __init__(self, told):
        super().__init__(BIN / "headway", BIN / "headway-train", "sim")
        self.told = list(told)

    def step_costs_ns(self, programs, repeat=1):
        slow = {"sync": ("op", 30.0), "fused_bn": ("off", 10.0), "batch": ("32", 0.0), "loss_read": ("step", 20.0)}
        return [40.0 + sum(cost for name, (value, cost) in slow.items() if one.get(name, "") == value) for one in programs]

    def record(self, values, trace):
        return trace, 0

    def report(self, trace):
        return self.told.pop(0)


def walk(*told):
    case = Scenario("case", "title", "source", "2 times", 2, 2, "--model resnet --batch 32", "--sync op --fused-bn off --loss-read step",
                    ["--sync never", "--fused-bn on"], "")
    with tempfile.TemporaryDirectory() as folder:
        return Walk(Pretended(told), case, folder, 1).run()


def test_rules():
    """A step is a hit where the first advice that can be followed names its switch; what makes another training is passed over."""
    hit = ("remove-syncs", "--sync never")
    row = walk(advice(("larger-batch", ""), hit), advice(("deferred-read", "--loss-read deferred")), advice())
    first, second = row["steps"]
    assert first["hit"] and first["taken"] == "--sync never" and first["passed"] == ["--batch 64: another training"], first
    assert not second["hit"] and second["taken"] == "--fused-bn on" and second["advised"] == "--loss-read deferred", second
    assert abs(second["advice_gain"] - 20 / 70) < 1e-9 and abs(second["best_gain"] - 10 / 70) < 1e-9, second
    assert abs(row["ratio"] - 100 / 60) < 1e-9 and verdict(row) == "within 25 %" and row["then"] is None, row
    assert summary([row]) == {"steps": 2, "hits": 1, "hits_of_very_first": 0, "misses_that_gain_more": 1, "judged": 1, "near": 1}
    assert "**case**" in markdown([row])
    silent = walk(advice(), advice(hit), advice(hit))
    assert silent["steps"][0]["taken"] == "--sync never" and not silent["steps"][0]["hit"], "the best step that is left"


def test_list():
    """The trainer takes the start and the end of every case, and each step changes what is slow at the start."""
    tools = Tools(BIN / "headway", BIN / "headway-train", "sim")
    for one in SCENARIOS:
        for setting in (one.setting, one.host):
            start = {**switches(setting), **switches(one.slow)}
            tools.switches({**tools.set_always, **start})
            end = dict(start)
            for step in map(switches, one.path):
                assert all(end.get(name) != value for name, value in step.items()), (one.name, step)
                end.update(step)
            tools.switches({**tools.set_always, **end})


{"rules": test_rules, "list": test_list}[sys.argv[2]]()
