#!/usr/bin/env python3
"""Checks that no two files define a type of the same name in the same namespace: the linker would silently mix their code. And
that no test's name has a semicolon: CMake cuts it there, and ctest runs two tests that do not exist. And that the first line of
each file is the licence's, and nothing else."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIP = {"build", ".git"}
OPEN = re.compile(r"namespace( [\w:]+)? \{")
CLOSE = re.compile(r"\}  // namespace")
TYPE = re.compile(r"(?:struct|class|enum class) (\w+)(?![\w:]*::)[^;]*$")  # forward declarations end on the line

LICENCE = "// SPDX-License-Identifier: MIT\n"
TEST = re.compile(r'TEST_CASE\(\s*((?:"[^"]*"\s*)+)\)')


def types_of(text):
    namespaces = []
    for line in text.splitlines():
        if opened := OPEN.match(line):
            namespaces.append((opened.group(1) or "").strip())
        elif CLOSE.match(line) and namespaces:
            namespaces.pop()
        elif (found := TYPE.match(line)) and namespaces and "" not in namespaces:
            yield "::".join(namespaces) + "::" + found.group(1)


def main():
    files = collections.defaultdict(set)
    wrong = []
    for source in ROOT.rglob("*"):
        name = source.relative_to(ROOT)
        if source.suffix in {".h", ".cc", ".cu", ".cuh"} and name.parts[0] not in SKIP:
            text = source.read_text()
            for one in types_of(text):
                files[one].add(name.as_posix())
            if not text.startswith(LICENCE):
                wrong.append(f"{name.as_posix()}: the first line is not '{LICENCE.strip()}'")
            wrong += [f"{name.as_posix()}: the test's name has a semicolon: {test[:60]}" for test in TEST.findall(text) if ";" in test]
    # Members defined outside their class ("struct Loader::Job {") do not match; specialisations have no type of their own.
    problems = {name: where for name, where in files.items() if len(where) > 1}
    for name, where in sorted(problems.items()):
        print(f"{name}: defined in {' and '.join(sorted(where))}")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"names: {len(files)} types, {len(problems) + len(wrong)} problems")
    return 1 if problems or wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
