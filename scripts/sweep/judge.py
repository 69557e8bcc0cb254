"""One case: draw, run, ask, do, compare."""
import os
import tempfile

from sweep.changes import alters_meaning, label, same, takes_several_causes, unique
from sweep.measure import Crashed, Refused, wait_for_quiet

CLAIM = 0.05   # what counts as claimed, or as gained
NOTHING = 0.01  # what counts as nothing
PATIENCE_S = 10  # for a machine that is quiet
TOLERANCE = 0.001  # of the step: rounding of what the report prints


def judge(tools, seed, index, world=True, repeat=1, keep=None):
    """The case as a dictionary; with the key `crashed` where a program failed."""
    for attempt in range(200):
        values = tools.draw(seed, index, attempt, world)
        values = {name: value for name, value in values.items() if name in tools.set_always or not same(value, tools.defaults[name])}
        try:
            return judge_program(tools, index, values, repeat, keep)
        except Refused:
            continue
        except Crashed as crash:
            return {"index": index, "program": values, "crashed": str(crash)}
    return {"index": index, "program": {}, "crashed": "no program of 200 draws runs"}


def judge_program(tools, index, values, repeat, keep):
    program = tools.program(values)
    others = None if tools.simulated else wait_for_quiet(PATIENCE_S)
    with tempfile.TemporaryDirectory(prefix="headway sweep ") as folder:
        trace = keep or os.path.join(folder, "run.sqlite")
        trace, step = tools.record(values, trace)
        report = tools.report(trace)
    fixes = {one["fix"]: one for one in report["fixes"]}
    told = [one for one in report["findings"] if one["status"] == "found"]
    gains = Gains(tools, program, step, repeat)
    # A finding of one rank may advise another setting than the run as a whole.
    advised = {(fix["fix"], fix["setting"]) for fix in fixes.values() if fix["applies"] or any(answers(fix, one) for one in told)}
    advised |= {(one["fix"], one["setting"]) for finding in told for one in finding["fixes"]}
    changes = program.single_changes() + [change for fix, setting in sorted(advised) for change in program.realisations(fix, setting)]
    plan = planned(report["plan"], program)
    gains.measure(changes + ([plan] if plan else []))
    baseline = gains.step if tools.simulated else replayed_step_ns(report)
    predictions = [predicted(one, program, gains, baseline) for one in fixes.values() if one["applies"]]
    findings = [found(one, fixes, program, gains) for one in told]
    case = {"index": index, "program": values, "shell": tools.shell(values), "step_ns": gains.step, "recorded_step_ns": step,
            "unchanged_gain": gains.unchanged, "others": others,
            "reported_step_ns": replayed_step_ns(report) or next((p["ns_per_step"] for p in report["partition"]), None), "verdict": report["verdict"],
            "changes": gains.rows(changes), "plan": plan and made(report["plan"], plan, gains, baseline), "findings": findings, "predictions": [one for one in predictions if one]}
    case["regret"] = {which: regret(case, keep_meaning) for which, keep_meaning in (("all", False), ("same_meaning", True))}
    case["violations"] = violations(findings)
    case["false_findings"] = [f["rule"] for f in findings if is_false(f)]
    named = {name for f in findings for name in f["switches"]}
    claim = CLAIM + abs(gains.unchanged or 0)  # what noise gains is no loss
    case["silent_losses"] = [{"change": c["change"], "gain": c["gain"], "meaning": c["meaning"]} for c in case["changes"]
                             if c["gain"] >= claim and c["single"] and not named & set(c["switches"])]
    return case


def answers(fix, finding):
    return finding["rule"] in fix["rules"].split(", ")


def replayed_step_ns(report):
    return next((fix["recorded_step_ns"] for fix in report["fixes"] if fix["applies"]), None)


class Gains:
    """What changes gain, as a share of the step's cost. `step`: of the recorded run."""

    def __init__(self, tools, program, step, repeat):
        self.tools, self.program, self.step, self.repeat = tools, program, step, repeat
        self.unchanged = None  # what a run without a change gains: noise
        self.done = {}

    def measure(self, changes):
        """All changes; on a machine beside the program itself, which runs twice in each round."""
        changes = unique(changes)
        itself = [] if self.tools.simulated else [self.program.values]
        costs = self.tools.step_costs_ns([*itself, *({**self.program.values, **change} for change in changes), *itself], self.repeat)
        if itself:
            first, again = costs[0], costs[-1]
            self.step = (first + again) / 2
            self.unchanged = 1 - again / first
            costs = costs[1:-1]
        for change, cost in zip(changes, costs):
            work = int(change.get("batch", self.program.now["batch"])) / int(self.program.now["batch"])
            self.done[label(change)] = (change, None if cost is None else 1 - cost / work / self.step)

    def of(self, change):
        """None where the trainer refuses the change."""
        return self.done[label(change)][1]

    def rows(self, changes):
        done = [(key, *self.done[key]) for key in map(label, unique(changes))]
        rows = [{"change": key, "switches": sorted(change), "gain": gain, "meaning": alters_meaning(change), "single": len(change) == 1}
                for key, change, gain in done if gain is not None]
        return sorted(rows, key=lambda row: -row["gain"])


def measured(program, gains, fix, setting):
    """The fix done: (change, gain) of each alternative that runs here."""
    done = [(change, gains.of(change)) for change in program.realisations(fix, setting)]
    return [(change, gain) for change, gain in done if gain is not None]


def predicted(fix, program, gains, baseline):
    """A prediction beside what its change gained. Of alternatives the first one: it is the one that the fix names. On a machine the
    recorded run is slower than the others, so `baseline`, its step cost, stands for theirs."""
    done = measured(program, gains, fix["fix"], fix["setting"])
    if not done or fix["kind"] == "ceiling":
        return None
    change, gain = done[0]
    return {"fix": fix["fix"], "kind": fix["kind"], **beside(fix, change, gain, gains, baseline)}


def beside(told, change, gain, gains, baseline):
    """What was predicted (a step, and shares of the recorded one that are gained) beside what was measured."""
    scale = gains.step / baseline
    step, predicted_step = gains.step * (1 - gain), told["step_ns"] * scale
    whole = told["step_ns"] / (1 - told["share"]) if told["share"] < 1 else baseline
    low, high = (predicted_step - (told[end] - told["share"]) * whole * scale for end in ("high", "low"))
    return {"change": label(change), "predicted_step_ns": predicted_step, "step_ns": step, "predicted_gain": told["share"], "gain": gain,
            "gain_low": 1 - high / gains.step, "gain_high": 1 - low / gains.step, "error": predicted_step / step - 1,
            "inside": low - TOLERANCE * gains.step <= step <= high + TOLERANCE * gains.step}


def planned(plan, program):
    """All that the report's plan sets, of alternatives the first; {} where a part of it cannot be done here."""
    change = {}
    for one in plan:
        ways = program.realisations(one["fix"], one["setting"])
        if not ways:
            return {}
        change.update(ways[0])
    return change


def made(plan, change, gains, baseline):
    """The plan's last line beside the change that makes all of it; None where the program refuses it."""
    gain = gains.of(change)
    return None if gain is None else {"fixes": [one["fix"] for one in plan], **beside(plan[-1], change, gain, gains, baseline)}


def own_settings(finding):
    """What a finding without a replayed fix says of this trainer, where that is one switch with its value: "--pause-every 0"."""
    said = [one["knob"] for one in finding["advice"] if one["framework"] == "headway-train"]
    return [one for one in said if len(one.split()) == 2 and one.split()[1] not in ("N", "none")]


def found(finding, fixes, program, gains):
    """A finding with what its advice gained, in the order in which the report gives it."""
    first = (finding.get("prediction") or {}).get("fix")
    listed = [(one["fix"], one["setting"], one["share"] * one["certainty"]) for one in finding["fixes"]]
    listed = listed or [("", one, finding["share_of_step"]) for one in own_settings(finding)]
    advised = []
    for fix, setting, promised in listed:
        advised += [{"fix": fix, "change": label(change), "switches": sorted(change), "gain": gain, "promised": promised,
                     "meaning": alters_meaning(change)}
                    for change, gain in measured(program, gains, fix, setting)]
    step = finding["recoverable_ns_per_step"] / finding["share_of_step"] if finding["share_of_step"] > 0 else 0
    done = {one["fix"] for one in advised}
    untried = any(one["fix"] not in done and one["share"] >= CLAIM for one in finding["fixes"])
    return {"rule": finding["rule"], "untried": untried, "share": finding["share_of_step"], "predicted_gain": finding.get("predicted_gain"), "fix": first,
            "step_ns": step, "confidence": finding["confidence"], "advised": advised,
            "switches": sorted({name for one in advised for name in one["switches"]})}


def usable_of(finding, keep_meaning):
    """The advice of a finding that can be done here."""
    return [one for one in finding["advised"] if not (keep_meaning and one["meaning"])]


def advice_of(finding, keep_meaning):
    """What following a finding gains: the alternatives of its first fix that can be done. None: nothing can."""
    usable = usable_of(finding, keep_meaning)
    return max((one for one in usable if one["fix"] == usable[0]["fix"]), key=lambda one: one["gain"], default=None)


def in_order(findings, keep_meaning):
    """What is done by one who follows a report: its findings in their order. If the first thing that the first finding advises cannot be done
    here, what the report promises most of is done instead: beside each advice it says a gain and what is not known."""
    followed = [one for one in (advice_of(f, keep_meaning) for f in findings) if one]
    first = findings[0]["fix"] if followed else None
    if first and first not in (one["fix"] for one in usable_of(findings[0], keep_meaning)):
        followed.insert(0, max((one for f in findings for one in usable_of(f, keep_meaning)), key=lambda one: one["promised"]))
    return followed


def regret(case, keep_meaning):
    """What is lost by following the report's first, or the best of its first three, instead of the best single change."""
    tried = (c for c in case["changes"] if not (keep_meaning and c["meaning"]) and not takes_several_causes(c["switches"]))
    best = max(tried, key=lambda c: c["gain"], default=None)
    most = max(best["gain"], 0) if best else 0
    followed = in_order(case["findings"], keep_meaning)
    lost = [most - max((one["gain"] for one in followed[:n]), default=0) for n in (1, 3)]
    first_done = bool(case["findings"]) and advice_of(case["findings"][0], keep_meaning) is not None
    return {"top1": max(lost[0], 0), "top3": max(lost[1], 0), "best": best and best["change"], "best_gain": most,
            "first": followed[0]["change"] if followed else None, "first_fix": followed[0]["fix"] if followed else None,
            "first_gain": followed[0]["gain"] if followed else 0, "first_finding_done": first_done}


def violations(findings):
    """0 <= gain of the fix <= recoverable of the finding <= the step's cost."""
    found = []
    for f in findings:
        gain, share = f["predicted_gain"], f["share"]
        if share > 1 + TOLERANCE:
            found.append(f"{f['rule']}: recoverable {share:.1%} of the step")
        if gain is not None and gain < -TOLERANCE:
            found.append(f"{f['rule']}: {f['fix']} gains {gain:.1%}")
        if gain is not None and gain > share + TOLERANCE:
            found.append(f"{f['rule']}: {f['fix']} gains {gain:.1%}, recoverable {share:.1%}")
    return found


def is_false(finding):
    """Claims much, and nothing that it advises gains anything. Where some of it cannot be done here (samples of pictures in memory),
    nobody can tell."""
    return finding["share"] >= CLAIM and bool(finding["advised"]) and not finding["untried"] and all(one["gain"] < NOTHING for one in finding["advised"])
