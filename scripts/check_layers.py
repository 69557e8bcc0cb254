#!/usr/bin/env python3
"""Checks every #include "module/..." of the C++ sources against cmake/layers.txt, and that neither the list nor the folders have a
circle: no two folders include each other, directly or through others, whatever module they are of. A folder and one inside it
are two folders. Checks too that every test is built: the CMakeLists.txt nearest to it names it, or a pattern that it fits.

  scripts/check_layers.py            names each include that the list does not allow, and each circle with the includes that close it
  scripts/check_layers.py --print    also prints the graph as it is: each module, lowest first, with the modules it
                                     includes and from how many of its files; and, of each module, the order of its folders
"""
import collections
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SKIP = {"build", ".git"}


def read_layers():
    """module -> modules it may use; and [(pattern, module)] of files that lie in folders of others."""
    layers, elsewhere = {}, []
    for line in (ROOT / "cmake/layers.txt").read_text().splitlines():
        if re.match(r"[a-z]", line):
            module, uses, _, *files = (part.strip() for part in line.split(":"))
            layers[module] = uses.split()
            elsewhere += [(pattern, module) for part in files for pattern in part.split()]
    return layers, elsewhere


def module_of(path, layers, elsewhere):
    # `*` of a pattern stays within a folder.
    for pattern, module in elsewhere:
        if path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern):
            return module
    fitting = [m for m in layers if path.startswith(m + "/")]
    return max(fitting, key=len, default=None)


def may_use(module, target, layers):
    """Whether a list entry covers the target: itself, or the module that it is a room of, unless this is a room of it, too."""
    return any(target == used or (target.startswith(used + "/") and not (module + "/").startswith(used + "/"))
               for used in layers[module])


def unbuilt_tests():
    """Tests that no list of sources names."""
    unbuilt = []
    for test in sorted(ROOT.glob("tests/**/*_test.cc")):
        lists = next(folder / "CMakeLists.txt" for folder in test.parents if (folder / "CMakeLists.txt").exists())
        name = test.relative_to(lists.parent).as_posix()
        words = re.split(r"[\s()]+", lists.read_text())
        if not any(word.count("/") == name.count("/") and fnmatch.fnmatchcase(name, word) for word in words):
            unbuilt.append(f"{test.relative_to(ROOT).as_posix()}: no CMakeLists.txt names it, so it is never built")
    return unbuilt


def find_circle(graph):
    done = set()

    def visit(node, trail):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        for used in graph.get(node, ()):
            circle = visit(used, trail + [node])
            if circle:
                return circle
        done.add(node)
        return None

    return next(filter(None, (visit(m, []) for m in list(graph))), None)


def folder_circles(edges):
    """edges: folder -> folder -> {file: header that it includes}. One line for each circle; of two that share an include the first."""
    graph = {folder: sorted(used) for folder, used in sorted(edges.items())}
    lines = []
    while circle := find_circle(graph):
        steps = []
        for folder, used in zip(circle, circle[1:]):
            file, header = min(edges[folder][used].items())
            steps.append(f"{file} includes {header}")
        lines.append(f"circle of folders {' -> '.join(circle)}: {'; '.join(steps)}")
        graph[circle[-2]].remove(circle[-1])
    return lines


def lowest_first(graph):
    """Each node after all that it uses; nodes of a circle come where it is entered first."""
    order = []

    def visit(node, trail):
        if node in trail or node in order:
            return
        for used in sorted(graph.get(node, ())):
            visit(used, trail | {node})
        order.append(node)

    for node in sorted(graph):
        visit(node, frozenset())
    return order


def print_graph(edges, title):
    """edges: folder -> folder -> files."""
    graph = {folder: list(used) for folder, used in edges.items()}
    print(title)
    for folder in lowest_first(graph):
        used = edges.get(folder, {})
        print(f"  {folder:34} {' '.join(f'{name}({len(files)})' for name, files in sorted(used.items())) or '-'}")
    if circle := find_circle(graph):
        print("  circle: " + " -> ".join(circle))


def main(arguments):
    layers, elsewhere = read_layers()
    problems = []
    circle = find_circle(layers)
    if circle:
        problems.append("cmake/layers.txt: circle " + " -> ".join(circle))
    files = 0
    folders = collections.defaultdict(lambda: collections.defaultdict(dict))  # all folders, of whatever module
    between = {module: collections.defaultdict(set) for module in layers}  # modules
    within = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(set)))  # folders of a module
    for source in sorted(ROOT.rglob("*")):
        path = source.relative_to(ROOT)
        if path.parts[0] in SKIP or source.suffix not in {".h", ".cc", ".cu", ".cuh"}:
            continue
        name = path.as_posix()
        folder = path.parent.as_posix()
        all_included = INCLUDE.findall(source.read_text())
        for included in all_included:
            other = pathlib.PurePosixPath(included).parent.as_posix()
            if other != folder and "/" in included and (ROOT / other).is_dir():  # the header itself may be generated
                folders[folder][other].setdefault(name, included)
        module = module_of(name, layers, elsewhere)
        if module is None:
            continue
        files += 1
        within[module][folder]  # also one that includes nothing
        for included in all_included:
            target = module_of(included, layers, elsewhere)
            if not target:
                continue
            if target == module:
                other = pathlib.PurePosixPath(included).parent.as_posix()
                if other != folder:
                    within[module][folder][other].add(name)
                continue
            between[module][target].add(name)
            if not may_use(module, target, layers):
                problems.append(f"{name}: includes {included}, but {module} may only use: {' '.join(layers[module]) or 'nothing'}")
    problems += folder_circles(folders) + unbuilt_tests()
    if "--print" in arguments:
        print_graph(between, "modules")
        for module, folders in sorted(within.items()):
            if len(folders) > 1:
                print_graph(folders, f"folders of {module}")
    for problem in problems:
        print(problem)
    print(f"layers: {files} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
