#!/usr/bin/env python3
"""End-to-end cases: pipeline_test.py BIN_FOLDER CASE. Exit status 0: passed. Uses nothing but the programs and sqlite3."""
import json
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1])
HEADWAY = str(BIN / "headway")
TRAIN = str(BIN / "headway-train")


def run(*command, expect=0, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=250, **options)
    if expect is not None and result.returncode != expect:
        raise AssertionError(f"{command}: exit {result.returncode}, expected {expect}\n{result.stdout}\n{result.stderr}")
    return result


def record(folder, preset, steps, *more):
    trace = folder / f"{preset}.sqlite"
    run(HEADWAY, "record", "--quiet", "-o", trace, "--", TRAIN, "--preset", preset, "--steps", steps, "--eval", "off", "--quiet", *more)
    return trace


def report(trace):
    return json.loads(run(HEADWAY, "report", trace, "--json").stdout)


def check_integrity(trace):
    answer = sqlite3.connect(f"file:{trace}?mode=ro", uri=True).execute("PRAGMA integrity_check").fetchone()[0]
    assert answer == "ok", answer


def found(result):
    return [f for f in result["findings"] if f["status"] == "found"]


def preset(folder, name, steps, first, *more):
    trace = record(folder, name, steps, *more)
    check_integrity(trace)
    result = report(trace)
    device = result["partition"][0]
    assert sum(c["ns_per_step"] for c in device["classes"].values()) == device["ns_per_step"]
    assert result["steps"]["source"] == "declared" and result["steps"]["count"] == steps, result["steps"]
    assert not [loss for loss in result["trace"]["losses"] if loss["severity"] == "loss"], result["trace"]["losses"]
    # What else the machine does makes a step slow now and then: true, and not of the preset.
    names = [f["rule"] for f in found(result) if f["rule"] != "step-outlier" or name == "step-outlier"]
    shares = {c: round(100 * v["share"], 1) for c, v in device["classes"].items()}
    assert names[:1] == first if isinstance(first, list) else names[0] in first, f"found {names}, planted {first}; classes in %: {shares}"
    return found(result)


def preset_healthy(folder):
    preset(folder, "healthy", 30, [])


def preset_input_bound(folder):
    # Few workers read many small files: these stand for the same time, and the machine's noise decides which leads.
    group = {"input-bound", "small-files", "workers-starved"}
    all_found = preset(folder, "input-bound", 30, group)
    finding = next(f for f in all_found if f["rule"] == "input-bound")
    assert finding["sub_cause"] == "read", finding
    assert {f["part_of"] for f in all_found if f["rule"] in group} == {None, all_found[0]["rule"]}, all_found
    finding = next(f for f in all_found if f["rule"] == "small-files")
    assert any("--source shards" in a["knob"] for a in finding["advice"]), finding["advice"]


def preset_step_outlier(folder):
    # Long enough to stand out of what a busy machine makes of the other steps.
    finding = preset(folder, "step-outlier", 100, ["step-outlier"], "--worker-start-ms", "500")[0]
    assert finding["sub_cause"] == "input_other", finding
    assert any("--worker-reuse on" in a["knob"] for a in finding["advice"]), finding["advice"]


def preset_launch_bound(folder):
    preset(folder, "launch-bound", 60, ["launch-bound"])


def preset_host_sync(folder):
    preset(folder, "host-sync", 60, ["host-sync"])


def preset_allocator(folder):
    finding = preset(folder, "allocator", 30, ["allocator"])[0]
    assert any("--allocator caching" in a["knob"] for a in finding["advice"]), finding["advice"]


def preset_unfused(folder):
    preset(folder, "unfused", 60, ["unfused-elementwise"])


def killed(folder):
    """SIGKILL in the middle of training: the trace opens, holds every step that was reported, and says that it was cut."""
    trace = folder / "killed run.sqlite"
    recorder = subprocess.Popen([HEADWAY, "record", "--quiet", "-o", str(trace), "--", TRAIN, "--preset", "healthy", "--batch", "4",
                                 "--steps", "4000", "--eval", "off"], stderr=subprocess.PIPE, text=True)
    last = 0
    for line in recorder.stderr:
        match = re.match(r"step (\d+)/", line.strip())
        if match and int(match.group(1)) >= 20:
            last = int(match.group(1))
            break
    children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
    assert last and len(children) == 1, (last, children)
    subprocess.run(["kill", "-9", children[0]], check=True)
    recorder.stderr.close()
    assert recorder.wait(60) == 128 + signal.SIGKILL, recorder.returncode
    check_integrity(trace)
    result = report(trace)
    # The step that was printed had ended on the host before it was printed.
    assert result["steps"]["count"] >= last, (result["steps"], last)
    assert any("SIGKILL" in d["text"] and "was cut" in d["text"] for d in result["doubts"]), result["doubts"]


def errors(folder):
    """Wrong inputs are told apart, with exit code 3, and never called healthy."""
    trace = folder / "good.sqlite"
    run(HEADWAY, "record", "--quiet", "-o", trace, "--", TRAIN, "--preset", "healthy", "--batch", "2", "--steps", "6", "--eval", "off", "--quiet")
    (folder / "zero.sqlite").write_bytes(b"")
    (folder / "text.sqlite").write_text("loss 0.5\n" * 200)
    (folder / "cut.sqlite").write_bytes(trace.read_bytes()[: trace.stat().st_size // 2])
    newer = folder / "newer.sqlite"
    newer.write_bytes(trace.read_bytes())
    with sqlite3.connect(newer) as db:
        db.execute("UPDATE HEADWAY_META SET value='7' WHERE name='schema_version'")
    empty = folder / "empty.sqlite"
    run(HEADWAY, "record", "--quiet", "-o", empty, "--", "true")
    for name, word in (("zero", "is empty"), ("text", "is not a trace"), ("cut", "truncated"), ("newer", "newer"), ("empty", "headway record --help"),
                       ("missing", "No such file")):
        result = run(HEADWAY, "report", folder / f"{name}.sqlite", expect=3)
        assert word in result.stderr and f"{name}.sqlite" in result.stderr, result.stderr
        assert result.stdout == "", result.stdout
    for wrong, hint in ((["reprot"], "Did you mean 'report'"), (["report", "--fromat", "json", trace], "Did you mean '--format'"),
                        (["--hlep"], "Did you mean '--help'"), (["diff", trace], "b is required. See `headway diff --help`"),
                        (["stats", "kernels", trace], "The trace comes first: headway stats"),
                        (["report", trace, "-o", folder / "no" / "x.html"], "No such file or directory")):
        assert hint in run(HEADWAY, *wrong, expect=2).stderr, wrong


def budget_and_diff(folder):
    trace = folder / "a.sqlite"
    run(HEADWAY, "record", "--quiet", "-o", trace, "--", TRAIN, "--preset", "healthy", "--batch", "2", "--steps", "12", "--eval", "off", "--quiet")
    budget = folder / "headway.toml"
    budget.write_text('[step_ms]\np50 = "< 100000"\n')
    run(HEADWAY, "check", trace, "--budget", budget)
    budget.write_text('[step_ms]\np50 = "< 0.0001"\n')
    assert "broken" in run(HEADWAY, "check", trace, "--budget", budget, expect=1).stdout
    assert json.loads(run(HEADWAY, "diff", trace, trace, "--json").stdout)["verdict"] in ("same", "inconclusive")
    page = folder / "report.html"
    run(HEADWAY, "report", trace, "-o", page)
    html = page.read_text()
    assert html.count("<script") == 1 and "src=" not in html and "http://" not in html and "https://" not in html
    picture = folder / "timeline.png"
    if (BIN / "headway-gui").exists():
        run(HEADWAY, "view", trace, "--screenshot", picture, "--page", "timeline")
        assert picture.read_bytes().startswith(b"\x89PNG")
    else:
        assert "headway-gui is not installed" in run(HEADWAY, "view", trace, expect=2).stderr
    kernels = run(HEADWAY, "stats", trace, "kernels", "--format", "csv").stdout.splitlines()
    assert kernels[0].startswith("kernel,count,total_ns") and len(kernels) > 10, kernels[:2]
    run(HEADWAY, "stats", trace, "kernels", "-o", folder / "kernels.csv")
    assert (folder / "kernels.csv").read_text().splitlines() == kernels, "the name of the file tells the format"


def nothing_recorded(folder):
    """A program without NVTX: its exit code is passed on, its counters are kept, and nothing is called healthy."""
    trace = folder / "plain.sqlite"
    run(HEADWAY, "record", "-o", trace, "--", "sh", "-c", "sleep 0.5; exit 7", expect=7)
    check_integrity(trace)
    tables = {t["id"] for t in json.loads(run(HEADWAY, "stats", trace, "--json").stdout)["tables"]}
    assert {"processes", "counters"} <= tables, tables
    run(HEADWAY, "report", trace, expect=3)


def one_command(folder):
    """`headway run`: the program's output and exit code, then the verdict on one screen and a page beside the trace."""
    place = folder / "with space"
    place.mkdir()
    train = f"'{TRAIN}' --preset input-bound --steps 12 --eval off --quiet; exit 7"
    result = run(HEADWAY, "run", "--", "sh", "-c", train, expect=7, cwd=place)
    verdict = result.stdout[result.stdout.index("Verdict"):]
    assert len(verdict.splitlines()) <= 24, verdict
    assert ("input-bound" in verdict or "small-files" in verdict) and "\x1b" not in verdict, verdict
    assert (place / "run.html").read_text().lower().startswith("<!doctype html>")
    check_integrity(place / "run.sqlite")
    screen = run(HEADWAY, "report", place / "run.sqlite").stdout
    assert screen.splitlines()[0] == verdict.splitlines()[0]
    assert len(run(HEADWAY, "report", place / "run.sqlite", "--full").stdout.splitlines()) > len(screen.splitlines())
    nothing = run(HEADWAY, "run", "--no-html", "-o", place / "no.sqlite", "--", "sh", "-c", "exit 3", expect=3, cwd=place)
    assert "no verdict" in nothing.stderr and "Verdict" not in nothing.stdout, nothing
    assert not (place / "no.html").exists()


def fixes_together(folder):
    """Fixes together: the window ticks them, `headway whatif` predicts them, and its timeline shows all at once."""
    trace = folder / "simulated.sqlite"
    run(TRAIN, "--device", "sim", "--preset", "host-sync", "--steps", "20", "--quiet", "--trace", trace)
    both = ["--fix", "remove-syncs", "--fix", "half-precision"]
    shown = folder / "step.json"
    told = json.loads(run(HEADWAY, "whatif", trace, *both, "--timeline", shown, "--json").stdout)
    alone = {one["id"]: one["gain_ns"] for one in told["fixes"]}
    step = json.loads(shown.read_text())
    assert step["otherData"]["fix"] == "remove-syncs + half-precision", step["otherData"]
    assert step["otherData"]["gain_ns"] > max(alone.values()) > 0, (alone, step["otherData"])
    assert told["together"][-1]["gain_ns"] > max(alone.values()), told["together"]
    refused = run(HEADWAY, "whatif", trace, "--fix", "remove-syncs", "--fix", "larger-batch", "--timeline", shown, expect=3).stderr
    assert "larger-batch changes the batch" in refused, refused
    if (BIN / "headway-gui").exists():
        picture = folder / "together.png"
        run(HEADWAY, "view", trace, *both, "--screenshot", picture)
        assert picture.read_bytes().startswith(b"\x89PNG")
        for wrong, hint in ((["--fix", "no-such"], "'no-such'"), (["--list", "rows"], "--range"), (["--list", "columns"], "hits, rows or stacks")):
            assert hint in run(HEADWAY, "view", trace, *wrong, "--screenshot", picture, expect=2).stderr, wrong


def main():
    case = globals()[sys.argv[2]]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headway end to end ") as folder:
        case(pathlib.Path(folder))
    print(f"{sys.argv[2]}: passed in {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
