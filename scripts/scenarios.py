#!/usr/bin/env python3
"""Published before/after cases, walked by what the report says. Each case begins with all its switches slow. Before every step
`headway report` is asked; the switch that its first advice names is set where the published path sets it, too, with the path's value. Otherwise
the step is a miss: what the advice gains is measured beside the best step of the path that is left, and that one is taken. At the end the whole
gain stands beside the published one.
Advice is passed over, and said so, if the trainer refuses it, or if it makes another training (batch, number format, compressed gradients)
where the publication does not: its figures are for one batch and one format.
Usage: scenarios.py [--scenario NAME ...] [--device sim|host] [--json FILE] [--write-docs FILE] [--check]
(--list names the cases; --check: exit status 1 where a judged case is off by more than a quarter, or less than 80 % of the steps were the first
advice; --write-docs replaces the section `scenarios` in FILE)"""
import argparse
import dataclasses
import json
import os
import pathlib
import sys
import tempfile

from sweep.changes import MEANING, label, same
from sweep.judge import Gains
from sweep.measure import Refused, Tools
from validate_whatif import replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEAR = 0.25   # a ratio that is off by less is reproduced
WALKED = 0.8  # of the steps, the first advice

PICTURES = "--data generated-pictures --samples 1000 --workers 64 --host-cores 128 --prefetch 64"
RESNET50 = f"--gpu v100 --model resnet --depth 50 --image-size 224 {PICTURES}"
SSD = f"--gpu v100 --model ssd --depth 50 --image-size 300 --batch 32 {PICTURES}"
BERT = "--gpu v100 --model transformer --data generated --layers 12 --features 768 --heads 12 --sequence 128"
CLUSTER = "--gpu v100 --model resnet --depth 50 --image-size 224 --data generated --source memory --augment off --samples 4000 --batch 64 --precision amp-o2"
# ResNet-50 and the like take a host minutes; --device host walks the same switches on small models, and no ratio is judged.
SMALL_PICTURES = "--model resnet --image-size 32 --depth 8 --width 8 --data generated-pictures --samples 500 --batch 16 --workers 1"
SMALL_TEXT = "--model transformer --data generated --layers 2 --features 64 --sequence 64 --batch 4"
BLOG = "NVIDIA, New Optimizations To Accelerate Deep Learning Training on NVIDIA GPUs (2018)"
EXAMPLES = "NVIDIA DeepLearningExamples, README of"
NOT_SAID = "The source does not give the setting"


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    source: str
    published: str    # as it is written there
    low: float        # the same as ratios of throughput
    high: float
    setting: str      # of both sides
    slow: str         # the start
    path: list        # switches that the publication changes, a step each
    host: str         # the setting instead on --device host
    judged: bool = True
    reason: str = ""  # why the ratio is off, or is not judged


SCENARIOS = [
    Scenario("mxnet-resnet50", "MXNet, ResNet-50 at batch 32 on a V100: bulking of the engine, fused batch norm", BLOG, "660 → 1060 images/s", 1060 / 660, 1060 / 660,
             f"{RESNET50} --batch 32 --precision amp-o2", "--sync op --fused-bn off --graph-compiler off", ["--sync never", "--fused-bn on --graph-compiler on"],
             f"{SMALL_PICTURES} --memory-gb-per-s 6"),
    Scenario("gnmt", "PyTorch, GNMT at batch 128 on a V100: FP16 with master weights, persistent layers", f"{EXAMPLES} GNMT (2019)", "21346 → 66050 tokens/s",
             66050 / 21346, 66050 / 21346, "--gpu v100 --model gnmt --data generated --layers 4 --features 1024 --sequence 64 --batch 128",
             "--precision fp32 --rnn standard", ["--precision amp-o2", "--rnn persistent"],
             "--model gnmt --data generated --layers 1 --features 64 --sequence 16 --batch 4",
             reason="by its tokens and parameters the published run computes 26 TFLOP/s, a fifth of the tensor cores' peak; the simulated one reaches more than half of it: "
                    "its vocabulary is small, and no time goes to the framework's loop over attention steps"),
    Scenario("ssd", "PyTorch, SSD300 at batch 32 on a V100: automatic mixed precision", f"{EXAMPLES} SSD (2022)", "107.2 → 296.8 images/s", 296.80 / 107.22, 296.80 / 107.22,
             f"{SSD} --fused-bn off --graph-compiler off", "--precision fp32", ["--precision amp-o1"], SMALL_PICTURES.replace("resnet", "ssd"),
             reason="O1 casts around every product here; with O2, which has no casts, the step is 3.7 times as fast as in FP32. The published run lies between"),
    Scenario("ssd-layout", "PyTorch, SSD300 in mixed precision: NHWC and fused batch norm", BLOG, "more than 20 %", 1.2, 2, f"{SSD} --precision amp-o2",
             "--layout nchw --fused-bn off --graph-compiler off", ["--layout nhwc", "--fused-bn on --graph-compiler on"],
             f"{SMALL_PICTURES.replace('resnet', 'ssd')} --memory-gb-per-s 1"),
    Scenario("vision-input", "PyTorch, ResNet-50 at batch 32 on a V100: workers instead of the training thread",
             "two recordings of PyTorch's profiler samples (docs/verdicts.md)", "step 153 → 120 ms", 153 / 120, 153 / 120,
             RESNET50.replace("--workers 64 --host-cores 128 --prefetch 64", "--prefetch 8") + " --batch 32", "--workers 0", ["--workers 4"], SMALL_PICTURES),
    Scenario("vision-loader", "Images from small files, one worker, copies that block", "a data-loader case (source not public)", "+166 %", 2.66, 2.66,
             "--gpu v100 --model resnet --depth 50 --image-size 224 --data generated-pictures --samples 1000 --precision amp-o2 --batch 32 --storage-latency-ms 1",
             "--workers 1 --source files --h2d blocking --pinned off", ["--source shards", "--workers 8", "--h2d prefetch --pinned on"],
             f"{SMALL_PICTURES} --storage-latency-ms 1", judged=False, reason=f"{NOT_SAID}: what the storage takes decides the ratio"),
    Scenario("bert", "PyTorch, BERT-base at batch 96 on a V100: automatic mixed precision", "PaddlePaddle/Perf, README (NGC PyTorch, 1 GPU)", "153.6 → 630.6 sequences/s",
             630.61 / 153.56, 630.61 / 153.56, f"{BERT} --batch 96 --fused-attention off", "--precision fp32", ["--precision amp-o1"], SMALL_TEXT),
    Scenario("apex", "PyTorch, a transformer: fused Adam and layer norm", "NVIDIA Apex (5 to 45 % for Adam, 4 % for layer norm)", "9 to 51 %", 1.09, 1.51,
             f"{BERT} --batch 16 --precision amp-o2", "--fused-optimizer off --fused-ln off --graph-compiler off",
             ["--fused-optimizer multi-tensor", "--fused-ln on --graph-compiler on"], f"{SMALL_TEXT} --memory-gb-per-s 6"),
    Scenario("translation-balance", "GNMT on four ranks: sentences of like length, fused Adam", "NVIDIA Apex, for Adam", "5 to 45 % for the second step", 1.05, 1.45,
             "--gpu v100 --model gnmt --data generated --layers 2 --features 1024 --sequence 128 --batch 32 --precision amp-o2 --ranks 4",
             "--balance random --fused-optimizer off", ["--balance sorted", "--fused-optimizer multi-tensor"],
             "--model gnmt --data generated --layers 1 --features 64 --sequence 16 --batch 4 --memory-gb-per-s 6", judged=False,
             reason="only one of the two steps is published"),
    Scenario("slow-network", "ResNet-50 on eight nodes of one V100, 25 Gb/s: overlap and 16-bit gradients", "compression and overlap on slow networks (source not public)", "26 to 78 %",
             1.26, 1.78, f"{CLUSTER} --ranks 8 --ranks-per-node 1 --network-gb-per-s 3.1", "--overlap off", ["--overlap on", "--compress fp16"],
             "--model resnet --batch 8 --samples 2000 --depth 8 --threads 1 --ranks 2 --ranks-per-node 1 --network-gb-per-s 0.01"),
    Scenario("nodes", "ResNet-50 on two nodes of eight V100, 25 Gb/s: hierarchical sums that overlap the backward pass", "hierarchical sums (source not public)", "+85 %",
             1.85, 1.85, f"{CLUSTER} --ranks 16 --ranks-per-node 8 --network-gb-per-s 3.1", "--topology flat --overlap off", ["--topology hierarchical", "--overlap on"],
             "--model resnet --batch 8 --samples 2000 --depth 8 --threads 1 --ranks 4 --ranks-per-node 2 --network-gb-per-s 0.01"),
    Scenario("strategy-search", "ResNet-50 on eight nodes, 25 Gb/s: what a search over strategies sets", "dPRO (arXiv 2205.02473)", "up to 3.48 times, an upper bound", 1, 3.48,
             f"{CLUSTER} --ranks 8 --ranks-per-node 1 --network-gb-per-s 3.1",
             "--overlap off --bucket-mb 0 --first-bucket-mb 0 --fused-bn off --graph-compiler off --sync op",
             ["--overlap on", "--bucket-mb 25", "--fused-bn on --graph-compiler on", "--sync never"],
             "--model resnet --batch 8 --samples 2000 --depth 8 --threads 1 --ranks 2 --ranks-per-node 1 --network-gb-per-s 0.05"),
]


def switches(text):
    words = text.split()
    return {words[i][2:].replace("-", "_"): words[i + 1] for i in range(0, len(words), 2)}


def advice_in_order(report, program):
    """(rule, alternatives) of each fix that has a switch here."""
    for finding in report["findings"]:
        for fix in finding["fixes"] if finding["status"] == "found" else []:
            if changes := program.realisations(fix["fix"], fix["setting"]):
                yield finding["rule"], changes


def is_advised(step, alternatives):
    """The switch counts: the path may have another number than the advice, or another format of 16 bits."""
    return any(set(step) & set(change) for change in alternatives)


class Walk:
    def __init__(self, tools, scenario, folder, repeat):
        self.tools, self.scenario, self.repeat = tools, scenario, repeat
        setting = scenario.setting if tools.simulated else scenario.host
        self.values = {**tools.set_always, "eval": "off", "steps": "40", **switches(setting), **switches(scenario.slow)}
        self.left = [switches(step) for step in scenario.path]
        self.trace = os.path.join(folder, "run.sqlite")
        self.steps = []

    def run(self):
        first, _ = self.cost(), self.steps.clear()
        cost = first
        while self.left:
            cost = self.step(cost)
        then = next(iter(self.advice(Gains(self.tools, self.program(), cost, self.repeat))), None)
        ratio = first / cost
        one = self.scenario
        off = 0 if one.low <= ratio <= one.high else (ratio / one.high if ratio > one.high else ratio / one.low) - 1
        return {"name": one.name, "title": one.title, "source": one.source, "published": one.published, "published_ratio": [one.low, one.high],
                "first_step_ns": first, "last_step_ns": cost, "ratio": ratio, "off": off, "judged": one.judged and self.tools.simulated,
                "reason": one.reason, "steps": self.steps, "then": then and f"{then['rule']}: {label(then['changes'][0])}"}

    def cost(self):
        return self.tools.step_costs_ns([self.values], self.repeat)[0]

    def program(self):
        return self.tools.program(self.values)

    def advice(self, gains):
        """What the report advises, in its order, up to the first that can be followed; `gain`: of its best alternative, None where it was passed over."""
        self.trace, _ = self.tools.record(self.values, self.trace)
        of_path = {name for step in map(switches, self.scenario.path) for name in step}
        told = []
        for rule, changes in advice_in_order(self.tools.report(self.trace), gains.program):
            one = {"rule": rule, "changes": changes, "gain": None, "passed": "another training"}
            told.append(one)
            if any((MEANING & set(change)) - of_path for change in changes):
                continue
            gains.measure(changes)
            one["gain"] = max((gain for gain in map(gains.of, changes) if gain is not None), default=None)
            one["passed"] = "refused by the trainer" if one["gain"] is None else None
            if one["gain"] is not None:
                break
        return told

    def step(self, cost):
        gains = Gains(self.tools, self.program(), cost, self.repeat)
        gains.measure(self.left)
        told = self.advice(gains)
        followed = told[-1] if told and not told[-1]["passed"] else None
        step = followed and next((step for step in self.left if is_advised(step, followed["changes"])), None)
        best = max(self.left, key=lambda step: -1 if gains.of(step) is None else gains.of(step))
        taken = step or best
        gain = gains.of(taken)
        if gain is None:
            raise Refused(f"{self.scenario.name}: the trainer refuses {label(taken)}")
        self.steps.append({"rule": followed and followed["rule"], "advised": followed and label(followed["changes"][0]), "advice_gain": followed and followed["gain"],
                           "passed": [f"{label(one['changes'][0])}: {one['passed']}" for one in told if one["passed"]],
                           "hit": step is not None, "taken": label(taken), "gain": gain, "best_gain": gains.of(best)})
        self.left.remove(taken)
        self.values.update(taken)
        return (1 - gain) * gains.step


def verdict(one):
    if not one["judged"]:
        return "not judged: " + (one["reason"] or "another setting than the published one")
    if abs(one["off"]) <= NEAR:
        return "within 25 %"
    return f"off by {one['off']:+.0%}: {one['reason']}"


def published_ratio(one):
    low, high = one["published_ratio"]
    return f"{low:.2f}" if same(f"{low:.4f}", f"{high:.4f}") else f"{low:.2f} to {high:.2f}"


def step_text(step):
    passed = "".join(f"; passed over: `{one.replace(': ', '`, ')}" for one in step["passed"])
    if step["hit"]:
        also = "" if step["advised"] == step["taken"] else f" (advised: `{step['advised']}`)"
        return f"`{step['taken']}` −{step['gain']:.0%}{also}{passed}"
    told = "no advice" if step["advised"] is None else f"advised `{step['advised']}`, which gains {step['advice_gain']:.0%}"
    return f"*missed*: {told}; `{step['taken']}` −{step['gain']:.0%}{passed}"


def summary(rows):
    steps = [step for one in rows for step in one["steps"]]
    judged = [one for one in rows if one["judged"]]
    return {"steps": len(steps), "hits": sum(step["hit"] for step in steps), "hits_of_very_first": sum(step["hit"] and not step["passed"] for step in steps),
            "misses_that_gain_more": sum(not step["hit"] and (step["advice_gain"] or 0) > step["best_gain"] for step in steps),
            "judged": len(judged), "near": sum(abs(one["off"]) <= NEAR for one in judged)}


def summary_text(rows):
    s = summary(rows)
    return (f"The first advice that can be followed was a step of the published path in {s['hits']} of {s['steps']} steps ({s['hits_of_very_first']} with nothing passed over); "
            f"{s['misses_that_gain_more']} of the {s['steps'] - s['hits']} misses gained more than any step of it. {s['near']} of {s['judged']} ratios are within 25 %.")


def markdown(rows):
    lines = [summary_text(rows), "", "| case | published | ratio published | measured | | steps, each first asked for | then |", "|---|---|---|---|---|---|---|"]
    for one in rows:
        steps = "<br>".join(f"{i}. {step_text(step)}" for i, step in enumerate(one["steps"], 1))
        lines.append(f"| **{one['name']}**: {one['title']} | {one['published']}; {one['source']} | {published_ratio(one)} | {one['ratio']:.2f} "
                     f"({one['first_step_ns'] / 1e6:.4g} → {one['last_step_ns'] / 1e6:.4g} ms) | {verdict(one)} | {steps} | {one['then'] or 'nothing'} |")
    return "\n".join(lines) + "\n"


def print_row(one):
    print(f"{one['name']}: {one['title']}\n  published {one['published']} ({published_ratio(one)}); measured {one['ratio']:.2f}: {verdict(one)}")
    for step in one["steps"]:
        print(f"  {'advised' if step['hit'] else 'MISSED '}  {step_text(step).replace('`', '')}")
    print(f"  then      {one['then'] or 'nothing'}\n", flush=True)


def main():
    names = [one.name for one in SCENARIOS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", nargs="*", choices=names, default=names, metavar="NAME")
    parser.add_argument("--device", choices=["sim", "host"], default="sim")
    parser.add_argument("--headway", type=pathlib.Path, default=ROOT / "build/release/bin/headway")
    parser.add_argument("--train", type=pathlib.Path, default=ROOT / "build/release/bin/headway-train")
    parser.add_argument("--repeat", type=int, default=3, help="--device host: runs of each side, of which the fastest counts")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.list:
        return print("\n".join(f"{one.name:20} {one.title}" for one in SCENARIOS))
    tools = Tools(given.headway, given.train, given.device)
    rows = []
    for one in SCENARIOS:
        if one.name in given.scenario:
            with tempfile.TemporaryDirectory(prefix="headway scenarios ") as folder:
                rows.append(Walk(tools, one, folder, 1 if tools.simulated else given.repeat).run())
            print_row(rows[-1])
    print(summary_text(rows))
    if given.json:
        given.json.write_text(json.dumps({"device": given.device, "summary": summary(rows), "scenarios": rows}, indent=1, ensure_ascii=False) + "\n")
    if given.write_docs:
        replace_section(given.write_docs, "scenarios", markdown(rows))
    s = summary(rows)
    sys.exit(given.check and (s["near"] < s["judged"] or s["hits"] < WALKED * s["steps"]))


if __name__ == "__main__":
    main()
