#!/usr/bin/env python3
"""How the sources of projects are cut: files, lines in each, comments in headers, folders that say what they are.
Usage: source_figures.py [NAME=FOLDER]...     this project, and beside it others in their folders

Lines: of C++ and CUDA sources under version control, without what lies in folders of other projects (3rdparty, third_party). Comments:
of the lines of headers that are not empty, those that are comments or end in one; licence texts at the top are left out. Headers that
declare their documentation as strings (DECLARED: the tables of the trace, whose reference and SQL comments are generated from them)
have it counted there too: each line with a piece of such a sentence is one with a comment."""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".h", ".hpp", ".cc", ".cpp", ".cu", ".cuh"}
HEADERS = {".h", ".hpp", ".cuh"}
FOREIGN = {"3rdparty", "third_party", "external"}
MANY_SOURCES = 8
DECLARED = {"trace/tables"}  # folders of headers


def tracked(folder):
    names = subprocess.run(["git", "-C", folder, "ls-files", "-z"], capture_output=True, check=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        path = pathlib.Path(folder) / name
        if not FOREIGN & set(path.relative_to(folder).parts) and path.is_file():
            yield path


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def without_licence(lines):
    """Without the comment that a file begins with, where it says who may copy it."""
    end = 0
    while end < len(lines) and re.match(r"\s*(//|/?\*|$)", lines[end]):
        end += 1
    licence = re.search(r"copyright|licen[cs]e", "\n".join(lines[:end]), re.IGNORECASE)
    return lines[end:] if licence and end > 1 else lines


def comments(lines):
    """Lines that are not empty, and those of them with a comment."""
    inside = False
    full = told = 0
    for line in map(str.strip, lines):
        if not line:
            continue
        full += 1
        if inside or line.startswith("/*") or "//" in line:
            told += 1
        if "/*" in line:
            inside = "*/" not in line.split("/*")[-1]
        elif "*/" in line:
            inside = False
    return full, told


def declared(lines):
    """Lines without a comment that hold a sentence of documentation: a string with a space or a full stop at its end. Lists of
    columns (`indexes`) are names."""
    count = 0
    listing = False
    for line in lines:
        listing = listing or "indexes" in line
        sentence = any(" " in text or text.endswith(".") for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line))
        if sentence and not listing and "//" not in line and not line.lstrip().startswith("#"):
            count += 1
        listing = listing and ";" not in line
    return count


def figures(folder):
    paths = list(tracked(folder))
    sources = [path for path in paths if path.suffix in SOURCES]
    if not sources:
        sys.exit(f"source_figures.py: no C++ source under version control in {folder}; give the folder of a git checkout")
    texts = {path: path.read_text(errors="replace").splitlines() for path in sources}
    lengths = [len(lines) for lines in texts.values()]
    full = told = 0
    for path, lines in texts.items():
        if path.suffix in HEADERS:
            its = comments(without_licence(lines))
            full, told = full + its[0], told + its[1]
            if path.parent.relative_to(folder).as_posix() in DECLARED:
                told += declared(lines)
    folders = {}
    for path in sources:
        folders.setdefault(path.parent, []).append(path)
    many = [one for one, its in folders.items() if len(its) >= MANY_SOURCES]
    silent = [one for one in many if not any(path.parent == one and path.name.startswith("README") for path in paths)]
    return {"files": len(lengths), "lines": sum(lengths), "median": quantile(lengths, 0.5), "p95": quantile(lengths, 0.95), "longest": max(lengths),
            "comments in headers": f"{100 * told / max(1, full):.0f} %", f"folders of {MANY_SOURCES} and more": len(many), "without README": len(silent)}


def main(arguments):
    if any(one in ("-h", "--help") for one in arguments):
        print(__doc__)
        return
    projects = {"headway": str(HERE)}
    for one in arguments:
        name, equals, folder = one.partition("=")
        if not equals:
            sys.exit(f"source_figures.py: '{one}' is no NAME=FOLDER; --help shows how")
        projects[name] = folder
    rows = {name: figures(folder) for name, folder in projects.items()}
    heads = list(next(iter(rows.values())))
    print("| project | " + " | ".join(heads) + " |")
    print("| --- |" + " ---: |" * len(heads))
    for name, its in rows.items():
        print(f"| {name} | " + " | ".join(str(its[head]) for head in heads) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
