#!/usr/bin/env python3
"""The sweep: sweep_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts"))

from sweep import draw_pytorch  # noqa: E402
from sweep.changes import of_trainer, parse_setting  # noqa: E402
from sweep.draw import draw, missing  # noqa: E402
from sweep.judge import Gains, is_false, predicted, regret, violations  # noqa: E402
from sweep.measure import Crashed, PyTorchTools, Refused, Tools, step_cost_ns  # noqa: E402
from sweep.summary import quantile  # noqa: E402


def tools():
    return Tools(BIN / "headway", BIN / "headway-train", "sim")


def test_draw():
    """A seed and an index are one program, every switch is drawn or left out on purpose, and the trainer takes what is drawn."""
    assert draw("a", 3, 0, "sim") == draw("a", 3, 0, "sim")
    assert draw("a", 3, 0, "sim") != draw("a", 4, 0, "sim")
    assert draw("a", 3, 0, "sim") != draw("b", 3, 0, "sim")
    these = tools()
    assert missing(these.defaults) == [], missing(these.defaults)
    refused = 0
    for index in range(60):
        try:
            these.switches(draw("legal", index, 0, "sim"))
        except Refused:
            refused += 1
    assert refused < 20, f"{refused} of 60 programs are refused"


def test_changes():
    assert parse_setting("--h2d prefetch --pinned on") == {"h2d": "prefetch", "pinned": "on"}
    assert parse_setting("--workers, --prefetch") == {}
    values = {"device": "sim", "workers": "2", "sync": "op", "precision": "fp32", "slow_rank_ms": "3", "ranks": "2"}
    program = of_trainer(values, tools().switches(values))
    changes = program.single_changes()
    for change in ({"workers": "4"}, {"workers": "1"}, {"sync": "never"}, {"precision": "bf16"}, {"slow_rank_ms": "0"}):
        assert change in changes, change
    assert all(len(change) == 1 for change in changes)
    assert {"pinned": "on"} not in changes, "it is on"
    assert program.realisations("cuda-graph", "--cuda-graph on") == [], "the host waits after every op"
    values["sync"] = "never"
    graphs = of_trainer(values, tools().switches(values))
    assert graphs.realisations("cuda-graph", "--cuda-graph on") == [{"cuda_graph": "on"}]
    assert program.realisations("remove-syncs", "--sync never") == [{"sync": "never"}]
    assert program.realisations("half-precision", "--precision bf16") == [{"precision": "bf16"}]
    assert len(program.realisations("no-casts", "")) == 2, "alternatives"
    assert program.realisations("run-ahead", "--run-ahead") == [{"run_ahead": "4"}], "twice as many"


def advised(fix, gain, meaning=False, promised=0):
    return {"fix": fix, "change": fix, "switches": [fix], "gain": gain, "promised": promised, "meaning": meaning}


def test_judgement():
    def change(name, gain, meaning=False):
        return {"change": name, "gain": gain, "meaning": meaning, "switches": [name], "single": True}

    first = {"rule": "one", "untried": False, "share": 0.2, "predicted_gain": 0.1, "fix": "a", "advised": [advised("a", 0.1)]}
    second = {"rule": "two", "untried": False, "share": 0.5, "predicted_gain": 0.6, "fix": "b", "advised": [advised("b", 0.4, True)]}
    case = {"changes": [change("b", 0.4, True), change("c", 0.15), change("a", 0.1)], "findings": [first, second]}
    both = regret(case, False)
    assert abs(both["top1"] - 0.3) < 1e-9 and both["top3"] == 0 and both["best"] == "b"
    same = regret(case, True)
    assert abs(same["top1"] - 0.05) < 1e-9 and same["best"] == "c"
    not_here = {**first, "fix": "z", "advised": [advised("a", 0.1, promised=0.1)]}
    second_promises = {**second, "advised": [advised("b", 0.4, promised=0.3)]}
    assert regret({**case, "findings": [not_here, second_promises]}, False)["first"] == "b", "it promises more than the rest of the first"
    assert regret({**case, "findings": [{**not_here, "fix": "a"}, second_promises]}, False)["first"] == "a"
    two_causes = {**change("d", 0.9), "switches": ["pause_every", "slow_rank_ms"], "single": False}
    assert regret({**case, "changes": [*case["changes"], two_causes]}, False)["best"] == "b", "two planted causes are two changes"
    assert len(violations([first, second])) == 1
    assert violations([{**first, "predicted_gain": -0.1}]) and violations([{**first, "share": 1.2}])
    assert not is_false(first)
    assert is_false({**first, "advised": [advised("a", 0.001)]})
    assert not is_false({**first, "advised": []}), "nothing can be done here"
    assert not is_false({**first, "advised": [advised("a", 0.001)], "untried": True}), "the rest cannot be done here"
    assert quantile([3, 1, 2, 4, 5, 6, 7, 8, 9, 10], 0.9) == 9
    steps = [{"start_s": start} for start in (0, 1, 2, 3, 5)]
    assert step_cost_ns({"warm_up_steps": 1, "steps": steps}, False) == 4e9 / 3
    assert step_cost_ns({"warm_up_steps": 1, "end_s": 5.5, "steps": steps}, False) == 4.5e9 / 4, "and what comes after the last step began"
    # Four workers, 12 batches of 4 s: three waves, of which the first is over with the first step. The last step of the second would count none.
    waves = [{"start_s": 0, "device_end_s": 4 * (1 + i // 4)} for i in range(11)]
    told = {"warm_up_steps": 0, "steps": waves, "settings": {"workers": "4", "prefetch": "8"}}
    assert step_cost_ns(told, True) == 8e9 / 8, "four batches in four seconds"
    assert step_cost_ns({**told, "settings": {**told["settings"], "worker_reuse": "off"}}, True) == 8e9 / 9
    assert step_cost_ns({**told, "input_wait_share": 0.01}, True) == 8e9 / 9, "they do not wait for batches"
    # Two steps read from a cold storage; the trainer always leaves out five.
    cold = [{"start_s": 0, "device_end_s": end} for end in (3, 6, 7, 8, 9, 10, 11, 12)]
    assert step_cost_ns({"warm_up_steps": 5, "cold_steps": 2, "steps": cold}, True) == 1e9
    assert step_cost_ns({"warm_up_steps": 5, "cold_steps": 0, "steps": cold}, True) == 8e9 / 6
    assert step_cost_ns({"warm_up_steps": 5, "cold_steps": 8, "steps": cold}, True) == 8e9 / 6, "cold is their normal state"


def test_case():
    """A whole case, twice: the same figures, and a summary with a command line for the worst."""
    command = [sys.executable, ROOT / "scripts/sweep.py", "--seed", "test", "--headway", BIN / "headway", "--train", BIN / "headway-train"]
    one, two = (subprocess.run([*command, "--case", "1"], capture_output=True, text=True, timeout=250) for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert one.stdout == two.stdout
    case = json.loads(one.stdout)
    assert case["step_ns"] > 0 and case["changes"] and "crashed" not in case
    assert any(c["gain"] != 0 for c in case["changes"])
    assert case["program"]["world"] != "0"


def test_graphs():
    """A simulated run with a graph: the first step of two still runs op by op, and counts as the others do; pauses count."""
    settings = {"cuda_graph": "on"}
    ends = [0.010, 0.020, 0.021, 0.022, 0.028, 0.029, 0.030]  # the last one is left out
    steps = [{"device_end_s": end} for end in ends]
    metrics = {"warm_up_steps": 1, "steps": steps, "settings": settings}
    assert abs(step_cost_ns(metrics, True) - (1 + 1 + 1 + 6 + 1) / 5 * 1e6) < 1
    assert abs(step_cost_ns({**metrics, "settings": {}}, True) - 19 / 5 * 1e6) < 1


def test_cold():
    """A page cache is warm after so many batches: a step that begins cold is cold."""
    def cold_steps(batches):
        with tempfile.TemporaryDirectory() as folder:
            metrics = pathlib.Path(folder) / "metrics.json"
            words = ["--world", "700951709", "--depth", "8", "--batch", "4", "--source", "files", "--steps", "12", "--accumulate", str(batches)]
            subprocess.run([BIN / "headway-train", "--device", "sim", "--eval", "off", *words, "--quiet", "--metrics", metrics], check=True)
            return json.loads(metrics.read_text())["cold_steps"]

    batches = cold_steps(1)
    assert batches % 4, "or nothing is rounded"
    assert cold_steps(4) == batches // 4 + 1


class Pretended:
    """Programs whose steps take what the test says, slower by load in the first round."""
    simulated = False

    def __init__(self, costs):
        self.costs, self.ran = costs, []

    def step_costs_ns(self, programs, repeat):
        return [self.costs.get(one["workers"]) for one in programs]


def test_pytorch():
    """Programs in PyTorch: what is drawn is taken, changes follow from it, and predictions are judged as shares."""
    these = PyTorchTools(BIN / "headway", os.environ.get("HEADWAY_TEST_PYTHON", sys.executable))
    for index in range(60):
        values = draw_pytorch.draw("legal", index, 0)
        assert values == draw_pytorch.draw("legal", index, 0)
        changes = these.program(values).single_changes()
        assert changes and all(len(change) == 1 for change in changes)
    values = {"model": "vision", "workers": "0", "update": "for-loop"}
    program = these.program(values)
    assert {"update": "fused"} in program.single_changes() and {"prefetch": "4"} not in program.single_changes()
    assert program.realisations("use-workers", "--workers") == [{"workers": "1"}, {"workers": "2"}]
    assert program.realisations("use-workers", "--workers 4")[0] == {"workers": "4"}, "they stay alive by default"
    anew = {**values, "workers": "2", "persistent_workers": "off"}
    assert these.program(anew).realisations("more-workers", "--workers 4")[0] == {"workers": "4", "persistent_workers": "on"}
    assert program.realisations("fused-attention", "--fused-attention on") == [], "it has no such switch"
    try:
        these.switches({"model": "none"})
        raise AssertionError("taken")
    except Refused:
        pass

    gains = Gains(Pretended({"0": 10.0, "1": 8.0}), program, 15.0, 3)
    gains.measure([{"workers": "1"}, {"workers": "2"}])
    assert gains.step == 10 and gains.unchanged == 0 and gains.of({"workers": "2"}) is None
    told = {"fix": "use-workers", "kind": "structural", "setting": "", "share": 3 / 15, "low": 2 / 15, "high": 4 / 15, "step_ns": 12}
    one = predicted(told, program, gains, 15)
    assert abs(one["error"]) < 1e-9 and one["inside"], "12 of 15 recorded are 8 of 10"
    runs(these)


def runs(these):
    """A run by the clock of the program; where PyTorch is absent the program must say so."""
    try:
        cost = these.run_once({"width": "4", "size": "16", "batch": "2", "epoch_steps": "2", "workers": "1"})
        assert 0 < cost < 10e9
    except Crashed as crash:
        assert "No module named" in str(crash), crash
        print("PyTorch, NumPy or Pillow is absent: nothing ran")


{"draw": test_draw, "pytorch": test_pytorch, "changes": test_changes, "judgement": test_judgement, "graphs": test_graphs, "cold": test_cold, "case": test_case}[sys.argv[2]]()
