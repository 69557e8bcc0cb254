#!/usr/bin/env python3
"""headway history and explain, on recorded and simulated runs: history_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1]).resolve()


def run(*command, expect=0, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, **more)
    assert result.returncode == expect, (command, result.returncode, result.stdout, result.stderr)
    return result


def simulated(file, name, start, *switches):
    """A run of the trainer whose name and start are set: what a recording of it would hold."""
    run(BIN / "headway-train", "--device", "sim", "--steps", "30", "--quiet", "--trace", file, *switches)
    with sqlite3.connect(file) as base:
        base.execute("INSERT INTO HEADWAY_META VALUES ('name', ?)", (name,))
        base.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?", (start * 10**9,))


def rows(folder, *options, expect=0):
    return json.loads(run(BIN / "headway", "history", folder, "--json", *options, expect=expect).stdout)["rows"]


def history(folder):
    quick, slow = ["--batch", "32"], ["--batch", "64"]
    runs = [("c", "base", 1_700_000_300, quick), ("a", "base", 1_700_000_100, quick), ("b", "base", 1_700_000_200, quick),
            ("d", "other", 1_700_000_400, slow), ("e", "base", 1_700_000_500, slow)]
    for file, name, start, switches in runs:
        simulated(folder / f"{file}.sqlite", name, start, *switches)
    (folder / "torn.sqlite").write_text("no database")
    told = run(BIN / "headway", "history", folder)
    assert "torn.sqlite" in told.stderr and "slower" in told.stdout
    found = rows(folder)
    assert [row["file"] for row in found] == [f"{one}.sqlite" for one in "abcde"], found
    first, second, third, other, last = found
    assert first["change"] is None and other["change"] is None, "nothing of the name came before"
    assert abs(second["change"]) < 1e-9 and second["judgement"] == "" == third["judgement"], "the same run"
    assert last["judgement"] == "slower" and last["change"] > 0.1, last
    report = json.loads(run(BIN / "headway", "report", folder / "e.sqlite", "--json").stdout)
    assert last["step_ns"] == report["steps"]["step_cost_ns"], (last, report["steps"])
    assert [row["file"] for row in rows(folder, "--name", "oth*")] == ["d.sqlite"]
    rows(folder, "--fail", expect=1)
    (folder / "e.sqlite").unlink()
    rows(folder, "--fail")
    run(BIN / "headway", "history", folder / "none", expect=2)
    run(BIN / "headway", "history", folder, "--name", "nobody", expect=2)


def recorded(folder):
    """Name and commit are in a recording; the second run of a name says how it compares."""
    git = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]):
        run("git", *words, cwd=folder, env=git)
    commit = run("git", "rev-parse", "HEAD", cwd=folder, env=git).stdout.strip()
    inner = folder / "deep" / "er"
    inner.mkdir(parents=True)
    command = [BIN / "headway", "run", "--name", "tiny", "--no-html", "--", BIN / "headway-train", "--steps", "12", "--eval", "off"]
    assert "History" not in run(*command, cwd=inner).stdout
    assert re.search(r"^History .*1 earlier run of 'tiny'$", run(*command, cwd=inner).stdout, re.M)
    for packed in (False, True):
        found = rows(inner)
        assert [row["name"] for row in found] == ["tiny"] * len(found) and found[0]["commit"] == commit[:10], found
        if not packed:
            run("git", "pack-refs", "--all", cwd=folder, env=git)
            run(BIN / "headway", "record", "--quiet", "--name", "tiny", "-o", inner / "run-3.sqlite", "--", "true", cwd=inner)
    told = run(BIN / "headway", "history", inner)
    assert "run-3.sqlite" in told.stderr, "nothing happened in it"
    assert len(found) == 2 and all(row["commit"] == commit[:10] for row in found), found


    # A worktree has a file instead of the folder .git; its branch lies in the repository.
    run("git", "worktree", "add", "-q", "-b", "other", folder / "worktree", cwd=folder, env=git)
    run(BIN / "headway", "record", "--quiet", "-o", folder / "w.sqlite", "--", "true", cwd=folder / "worktree")
    with sqlite3.connect(folder / "w.sqlite") as base:
        assert base.execute("SELECT value FROM HEADWAY_META WHERE name = 'git_commit'").fetchone() == (commit,)


def explain(folder):
    listed = [line.split()[0] for line in run(BIN / "headway", "explain").stdout.splitlines()]
    reference = run(BIN / "headway", "reference", "rules").stdout
    assert len(listed) > 30 and all(f"| `{rule}` |" in reference for rule in listed)
    for rule in listed:
        text = run(BIN / "headway", "explain", rule).stdout
        assert f"({rule})" in text.splitlines()[0] and "Mechanism" in text and "Falsified by" in text, text
        assert not re.search(r"\\[_<>|]|\*\*|<!--|^## ", text, re.M), text
        assert max(map(len, text.splitlines())) <= 130, text
    text = run(BIN / "headway", "explain", "small-files").stdout
    assert "pack-files" in text and "--source shards" in text, text
    wrong = run(BIN / "headway", "explain", "small-file", expect=2).stderr
    assert "'small-files'" in wrong, wrong


with tempfile.TemporaryDirectory(prefix="headway history ") as name:
    {"history": history, "recorded": recorded, "explain": explain}[sys.argv[2]](pathlib.Path(name))
