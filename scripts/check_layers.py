#!/usr/bin/env python3
"""Checks every #include "module/..." of the C++ sources against cmake/layers.txt, and that the graph has no circle."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def read_layers():
    layers = {}
    for line in (ROOT / "cmake/layers.txt").read_text().splitlines():
        if re.match(r"[a-z]", line):
            module, uses, _ = (part.strip() for part in line.split(":"))
            layers[module] = uses.split()
    return layers


def module_of(path, layers):
    fitting = [m for m in layers if path == m or path.startswith(m + "/")]
    return max(fitting, key=len, default=None)


def may_use(module, target, layers):
    """Whether a list entry covers the target: itself, or for another top folder the module that it is a room of."""
    if target in layers[module]:
        return True
    if target.split("/")[0] == module.split("/")[0]:
        return False
    return any(target.startswith(used + "/") for used in layers[module])


def find_circle(layers):
    done = set()

    def visit(module, trail):
        if module in trail:
            return trail[trail.index(module):] + [module]
        if module in done:
            return None
        for used in layers[module]:
            circle = visit(used, trail + [module])
            if circle:
                return circle
        done.add(module)
        return None

    return next(filter(None, (visit(m, []) for m in layers)), None)


def main():
    layers = read_layers()
    problems = []
    circle = find_circle(layers)
    if circle:
        problems.append("cmake/layers.txt: circle " + " -> ".join(circle))
    files = 0
    for source in sorted(ROOT.rglob("*")):
        name = source.relative_to(ROOT).as_posix()
        module = module_of(name, layers)
        if module is None or source.suffix not in {".h", ".cc", ".cu", ".cuh"}:
            continue
        files += 1
        for included in INCLUDE.findall(source.read_text()):
            target = module_of(included, layers)
            if target and target != module and not may_use(module, target, layers):
                problems.append(f"{name}: includes {included}, but {module} may only use: {' '.join(layers[module]) or 'nothing'}")
    for problem in problems:
        print(problem)
    print(f"layers: {files} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
