"""What all cases together say: distributions, tables, the worst ones."""
import collections
import math

from .judge import NOTHING


def quantile(values, share):
    """The nearest rank, so that p90 of ten is the ninth."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else float("nan")


def percent(value):
    return "–" if value is None or math.isnan(value) else f"{value:.1%}"


def spread(values):
    return " / ".join(percent(quantile(values, share)) for share in (0.5, 0.9, 1))


def share_of(count, whole):
    return f"{count} of {whole} ({count / whole:.1%})" if whole else "none"


def judged(cases):
    return [case for case in cases if "crashed" not in case]


def figures(cases):
    """(name, value) of everything that has a goal; values as they are printed."""
    good = judged(cases)
    rows = [("cases", f"{len(good)} judged, {len(cases) - len(good)} crashed")]
    for name, which in (("regret", "all"), ("regret, changes of meaning left out", "same_meaning")):
        for first in ("top1", "top3"):
            values = [case["regret"][which][first] for case in good]
            rows.append((f"{'top-1' if first == 'top1' else 'top-3'} {name}: median / p90 / max of the step", spread(values)))
    rows.append(("first finding's advice is the best change, within 1 % of the step",
                 share_of(sum(case["regret"]["all"]["top1"] <= 0.01 for case in good), len(good))))
    rows.append(("first finding has no advice that can be done here",
                 share_of(sum(bool(c["findings"]) and not c["regret"]["all"]["first_finding_done"] for c in good), len(good))))
    violating = [case for case in good if case["violations"]]
    rows.append(("violations of 0 ≤ gain ≤ recoverable ≤ step",
                 f"{sum(len(case['violations']) for case in good)} in {len(violating)} cases"))
    findings = [finding for case in good for finding in case["findings"]]
    exceeded = [f for f in findings if f["advised"] and max(one["gain"] for one in f["advised"]) > f["share"] + 0.01]
    rows.append(("measured gain of the advice above recoverable by more than 1 % of the step",
                 share_of(len(exceeded), sum(bool(f["advised"]) for f in findings))))
    claims = [finding for finding in findings if finding["share"] >= 0.05 and finding["advised"]]
    rows.append(("false findings (≥ 5 % claimed, < 1 % gained by all that they advise)",
                 share_of(sum(len(case["false_findings"]) for case in good), len(claims))))
    for name, wanted in (("silent losses (a change gains ≥ 5 %, no finding names it), cases", lambda one: True),
                         ("silent losses, changes of meaning left out, cases", lambda one: not one["meaning"])):
        rows.append((name, share_of(sum(any(map(wanted, case["silent_losses"])) for case in good), len(good))))
    errors = [abs(one["error"]) for case in good for one in case["predictions"]]
    rows.append((f"error of {len(errors)} predictions, absolute: median / p90 / p95 / max",
                 " / ".join(percent(quantile(errors, share)) for share in (0.5, 0.9, 0.95, 1))))
    rows.append(("predictions inside their 95 % interval",
                 share_of(sum(one["inside"] for case in good for one in case["predictions"]), len(errors))))
    some = [one for case in good for one in case["predictions"] if max(one["gain"], one["predicted_gain"]) >= NOTHING]
    rows.append(("the same, where 1 % or more is gained or predicted", share_of(sum(one["inside"] for one in some), len(some))))
    if plans := [case for case in good if case.get("plan")]:
        ones = [case["plan"] for case in plans]
        rows.append((f"error of {len(plans)} plans (fixes together, all of them done): median / p95 / max",
                     " / ".join(percent(quantile([abs(one["error"]) for one in ones], share)) for share in (0.5, 0.95, 1))))
        rows.append(("plans inside their 95 % interval", share_of(sum(one["inside"] for one in ones), len(ones))))
        # A plan keeps the batch.
        single = [max((one["gain"] for one in case["changes"] if "batch" not in one["switches"]), default=0) for case in plans]
        rows.append(("what plans gain beyond the best single change that keeps the batch: median / p90 / max of the step",
                     spread([case["plan"]["gain"] - best for case, best in zip(plans, single)])))
    base = [abs(case["reported_step_ns"] / case["recorded_step_ns"] - 1) for case in good if case["reported_step_ns"]]
    rows.append(("reported against measured step cost: median / p90 / max", spread(base)))
    if noise := [abs(case["unchanged_gain"]) for case in good if case["unchanged_gain"] is not None]:
        beyond = [max(0, case["regret"]["all"]["top1"] - abs(case["unchanged_gain"])) for case in good]
        rows.append(("top-1 regret beyond the noise of its case: median / p90 / max", spread(beyond)))
        rows.append(("noise: the same program measured twice, difference: median / p90 / max", spread(noise)))
        rows.append(("processors taken by others when a case began: median / p90 / max", spread([case["others"] for case in good])))
        rows.append(("recorded against unrecorded step cost: median / p90 / max",
                     spread([case["recorded_step_ns"] / case["step_ns"] - 1 for case in good])))
    return rows


def by_fix(cases):
    groups = collections.defaultdict(list)
    for case in judged(cases):
        for one in case["predictions"]:
            groups[one["fix"]].append(one)
    head = ("fix", "predictions", "gain, median", "error: median", "absolute: median", "p95", "max", "inside")
    rows = []
    for fix, ones in sorted(groups.items(), key=lambda item: -quantile([abs(o["error"]) for o in item[1]], 0.95)):
        size = [abs(one["error"]) for one in ones]
        rows.append((fix, str(len(ones)), percent(quantile([o["gain"] for o in ones], 0.5)), f"{quantile([o['error'] for o in ones], 0.5):+.1%}",
                     percent(quantile(size, 0.5)), percent(quantile(size, 0.95)), percent(max(size)), f"{sum(o['inside'] for o in ones) / len(ones):.0%}"))
    return head, rows


def by_first(cases):
    """By the first finding's rule, and how the rule fares wherever it is found."""
    firsts, rules = collections.defaultdict(list), collections.defaultdict(list)
    for case in judged(cases):
        firsts[case["findings"][0]["rule"] if case["findings"] else "nothing found"].append(case)
        for finding in case["findings"]:
            rules[finding["rule"]].append(finding)
    head = ("rule", "first in", "top-1 regret: median", "p90", "max", "found in", "false", "violations")
    rows = []
    for rule in sorted(set(firsts) | set(rules), key=lambda r: (-sum(c["regret"]["all"]["top1"] for c in firsts.get(r, [])), r)):
        regrets = [case["regret"]["all"]["top1"] for case in firsts.get(rule, [])]
        from_rule = [v for case in judged(cases) for v in case["violations"] if v.startswith(rule + ":")]
        false = sum(case["false_findings"].count(rule) for case in judged(cases))
        rows.append((rule, str(len(regrets)), *(percent(quantile(regrets, share)) for share in (0.5, 0.9, 1)),
                     str(len(rules.get(rule, []))), str(false), str(len(from_rule))))
    return head, rows


def of_programs(cases):
    head = ("case", "switches that are not at their default", "step", "first finding", "its change", "gains", "best change", "gains")
    rows = []
    for case in judged(cases):
        told = case["regret"]["all"]
        rows.append((str(case["index"]), " ".join(f"{name} {value}" for name, value in case["program"].items()), f"{case['step_ns'] / 1e6:.1f} ms",
                     case["findings"][0]["rule"] if case["findings"] else "–", told["first"] or "–",
                     percent(told["first_gain"]) if told["first"] else "–", told["best"] or "–", percent(told["best_gain"])))
    return head, rows


def table(head, rows, markdown=False):
    if markdown:
        lines = [head, ("---",) * len(head), *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
                     for row in [head, *rows])


def worst(cases, count=10):
    """Cases by what following the report loses, each as commands that show it."""
    ordered = sorted(judged(cases), key=lambda case: -case["regret"]["all"]["top1"])[:count]
    lines = []
    for case in ordered:
        told = case["regret"]["all"]
        if told["top1"] < 0.01:
            break
        first = case["findings"][0]["rule"] if case["findings"] else "nothing found"
        lines += [f"case {case['index']}: regret {percent(told['top1'])} of {case['step_ns'] / 1e6:.3f} ms. First: {first}, "
                  f"{told['first'] or 'no advice'} gains {percent(told['first_gain'])}. Best: {told['best']} gains {percent(told['best_gain'])}.",
                  f"  {case['shell']}"]
    return lines


def text(cases, command):
    lines = [command, ""]
    width = max(len(name) for name, _ in figures(cases))
    lines += [f"{name.ljust(width)}  {value}" for name, value in figures(cases)]
    lines += ["", "By the first finding", table(*by_first(cases)), "", "By fix, where it was done", table(*by_fix(cases)), "", "Worst cases", *worst(cases)]
    crashed = [case for case in cases if "crashed" in case]
    lines += ["", "Crashed", *(f"case {case['index']}: {case['crashed']}" for case in crashed)] if crashed else []
    return "\n".join(lines) + "\n"


def markdown(cases, command, date, programs=False):
    lines = [f"Measured {date} by `{command}`.", "", table(("figure", "value"), [(n, v) for n, v in figures(cases)], True), "",
             "By the first finding:", "", table(*by_first(cases), True), "", "By fix, each prediction beside the change done:", "",
             table(*by_fix(cases), True), "", "The worst cases:", "", "```sh", *(line if line.startswith("  ") else f"# {line}" for line in worst(cases, 5)), "```"]
    if programs:
        lines += ["", "All programs:", "", table(*of_programs(cases), True)]
    return "\n".join(line.strip() if line.startswith("  ") else line for line in lines) + "\n"
