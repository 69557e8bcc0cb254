#!/usr/bin/env python3
"""Advice for headway-train names switches that it has. Usage: advice_test.py BIN_FOLDER RULES_FOLDER"""
import pathlib
import re
import subprocess
import sys

binaries, rules = (pathlib.Path(a) for a in sys.argv[1:])
reference = subprocess.run([binaries / "headway-train", "--reference"], capture_output=True, text=True, check=True).stdout
switches = {name.replace("_", "-") for name in re.findall(r"^\| `(\w+)` \|", reference, re.M)}
assert len(switches) > 50, f"the reference lists {len(switches)} switches"
named = {}
for rule in rules.glob("*.cc"):
    for advice in re.findall(r'"headway-train",(.*?)(?:;|"PyTorch")', rule.read_text(), re.S):
        for switch in re.findall(r"--([a-z][a-z-]+)", advice):
            named.setdefault(switch, rule.name)
assert len(named) > 15, f"found {len(named)} switches in the advice of {rules}"
unknown = {switch: rule for switch, rule in named.items() if switch not in switches}
assert not unknown, f"headway-train has no such switches: {unknown}"
print(f"{len(named)} switches named by advice, all of them known")
