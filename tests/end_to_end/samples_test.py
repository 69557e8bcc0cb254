#!/usr/bin/env python3
"""Runs the shell lines of samples/ci as CI systems do: samples_test.py BIN_FOLDER MAKE_TRACE SAMPLES. Exit status 0: passed."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HEADWAY = str(pathlib.Path(sys.argv[1]).resolve() / "headway")
MAKE_TRACE = str(pathlib.Path(sys.argv[2]).resolve())
SAMPLES = pathlib.Path(sys.argv[3]).resolve()


def blocks(text, key):
    """The text of each `key: |` block, without its indentation."""
    found = []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        match = re.match(rf"( *){key}: \|$", line)
        if not match:
            continue
        body = []
        for inner in lines[i + 1:]:
            if inner.strip() and len(inner) - len(inner.lstrip()) <= len(match.group(1)):
                break
            body.append(inner[len(match.group(1)) + 2:])
        found.append("\n".join(body) + "\n")
    return found


def shell(script, folder, expect, **variables):
    # As GitHub runs `shell: bash`; GitLab's shell also stops at the first error.
    result = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True,
                            env={"PATH": os.environ["PATH"], "HEADWAY": HEADWAY, **variables}, timeout=250)
    assert result.returncode == expect, f"exit {result.returncode}, expected {expect}\n{script}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def installed(script, folder):
    """What the script says to Python: a stand-in writes it down."""
    python = folder / "stand-in" / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\necho "$*" >"{folder}/said"\n')
    python.chmod(0o755)
    shell(script, folder, 0, WHEEL="a wheel.whl", PATH=f"{python.parent}:{os.environ['PATH']}")
    return (folder / "said").read_text().strip()


def github(folder, trace):
    text = (SAMPLES / "action.yml").read_text()
    declared = set(re.findall(r"^  ([a-z]+):$", text.split("runs:")[0].split("inputs:")[1], re.M))
    used = set(re.findall(r"\$\{\{ inputs\.([a-z]+) \}\}", text))
    assert declared == used, (declared, used)
    install, report, check = blocks(text, "run")
    assert "${{" not in install + report + check, "inputs must reach the script as variables"
    assert "if: inputs.wheel != ''" in text
    assert installed(install, folder) == "-m pip install --quiet a wheel.whl"
    summary = folder / "summary.md"
    variables = dict(TRACE=str(trace), OUTPUT="out put", BUDGET=str(SAMPLES / "headway.toml"), BASELINE="", GITHUB_STEP_SUMMARY=str(summary))
    shell(report, folder, 0, **variables)
    shell(check, folder, 0, **variables)
    out = folder / "out put"
    assert json.loads((out / "report.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((out / "check.sarif").read_text())["runs"][0]["results"]
    assert xml.etree.ElementTree.parse(out / "check.xml").getroot().get("failures") == "0"
    assert "Within budget" in summary.read_text() and "Headway" in summary.read_text()
    strict = folder / "strict.toml"
    strict.write_text('step_ms.p50 = "< 0.001"\nvs_baseline.step = "+3%"\n')
    variables["BUDGET"] = str(strict)
    shell(check, folder, 2, **variables)  # no baseline
    variables["BASELINE"] = str(trace)
    shell(check, folder, 1, **variables)
    assert "Over budget" in summary.read_text()
    failed = xml.etree.ElementTree.parse(out / "check.xml").getroot()
    assert failed.get("failures") == "1", "a run against itself has not grown"
    variables["TRACE"] = "no such file"
    shell(report, folder, 3, **variables)


def gitlab(folder):
    text = (SAMPLES / "gitlab-ci.yml").read_text()
    install, *lines = re.findall(r"^    - '(.*)'$", text, re.M)
    assert len(lines) == 3, lines
    assert installed(install, folder) == "-m pip install --quiet a wheel.whl"
    shell(install, folder, 0, WHEEL="")
    record = folder / "record"
    record.mkdir()
    shell(lines[0], record, 0, TRAIN="true")
    assert (record / "run.sqlite").exists()
    variables = dict(BUDGET=str(SAMPLES / "headway.toml"), BASELINE="")
    shell("\n".join(lines[1:]), folder, 0, **variables)
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert xml.etree.ElementTree.parse(folder / "headway.xml").getroot().tag == "testsuites"
    for path in ("run.sqlite", "report.html", "headway.xml"):
        assert path in text and (folder / path).exists(), path


with tempfile.TemporaryDirectory(prefix="headway samples ") as name:
    place = pathlib.Path(name)
    subprocess.run([MAKE_TRACE, str(place / "run.sqlite"), "20"], check=True)
    github(place, place / "run.sqlite")
    gitlab(place)
