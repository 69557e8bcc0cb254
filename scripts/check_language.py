#!/usr/bin/env python3
"""Idioms that a reader has to read twice, in what people read: strings of the interface, README, user guide, rules, how-tos.

Prints FILE:LINE, the idiom and what to write instead; fails on the first find. `--self-check` proves that each rule can fail.
The rules are those of docs/contributing.md ("Language")."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("analyzer/", "cli/", "collector/", "common/", "gui/", "trace/", "reference_trainer/")
PAGES = ("README.md", "docs/user-guide/", "docs/rules/", "docs/howto/", "docs/contributing.md", "docs/performance.md", "samples/")

# Idiom, what to write instead, a sentence that has it.
IDIOMS = [
    (r"\b(?:of|from) before\b", "name it: earlier steps, the query history", "steps of before are kept"),
    (r"\b(?:stream|kernel|thread|rank|node|finding|place|process|folder|window|file)s? of (?:its|their|his) own\b", "a separate …", "copy on a stream of its own"),
    (r"\bas (?:it is|they are)\b(?! (?:now|done|printed|built|recorded))", "unchanged, or already", "the command line as it is"),
    (r"\b(?:it|that|this) goes with\b", "say what happens: is deleted, is accepted, combines", "it goes with the window"),
    (r"\bthat (?:is|are) there\b", "existing, or nothing", "files that are there are replaced"),
    (r"^What (?:is|are|was|were|the|it) .*[^?:]$", "name the thing: Scope, Memory counters", "What the figures are over"),
    (r"\b(?:could not|cannot) be (?:made|told|kept|begun)\b", "cannot create, is unknown, cannot save", "This page could not be made"),
    (r"\bthere is no such\b", "unknown …", "there is no such fix"),
    (r"\bnothing (?:tells|says) (?:what|how|which|whether|when|why)\b", "… is unknown", "nothing tells what waits for what"),
    (r"\bit was (?:lost|set aside) that\b|\bset aside\b", "discarded, or skipped", "rows that were set aside"),
    (r"\bleave (?:\S+ ){1,3}(?:off )?out\b(?!-)", "remove …", "leave --nvtx off out"),
    (r"\bso (?:many|much|long)\b(?! (?:as|that|for))", "this many, this much, or the number", "the job with so many ranks"),
    (r"\bas (?:many|much|long|few|fast) as (?:it|they) (?:took|was|were|did)\b", "keep their time", "batches take as long as they took"),
    (r"\blet(?:s)? go of\b", "name the action: Unpin, Release", "Let go of the row"),
    (r"\b(?:time|steps?|ranks?) which one\b|\bby what\b", "name the quantity", "By what a kernel's time is multiplied"),
    (r"\bWhatever\b", "Everything else, Any", "Whatever is otherwise goes the general way"),
    (r"\bcounters? of (?:the )?memory\b", "memory counters", "Counters of memory"),
    (r"\bops? of the model\b", "model ops", "Ops of the model"),
    (r"(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b|slower\b|faster\b|use\b|need\b)[a-z]", "is not a …", "the value is no number"),
    (r"\bmore than (?:one )?has room\b|\bhas room enough\b", "is too large for", "more than has room"),
]
COMPILED = [(re.compile(pattern, re.IGNORECASE if pattern[:1] != "^" and "Whatever" not in pattern else 0), instead, sample)
            for pattern, instead, sample in IDIOMS]

LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
NOT_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def strings(text):
    """String literals with their line, adjacent ones joined; comments, includes and raw strings are left out."""
    def blank(match):
        return match.group(0) if match.group(0)[0] == '"' else re.sub(r"[^\n]", " ", match.group(0))
    text = NOT_CODE.sub(blank, text)
    parts, end = [], None
    for match in LITERAL.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        start = text.rfind("\n", 0, match.start()) + 1
        if text[start:match.start()].lstrip().startswith("#include"):
            continue
        if parts and not text[end:match.start()].strip():
            parts[-1][1] += match.group(1)
        else:
            parts.append([line, match.group(1)])
        end = match.end()
    return [(line, part) for line, part in parts if " " in part.strip()]


def paragraphs(text):
    """Lines of a page that are prose: no code blocks, no code spans, no targets of links."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`…`", line)).strip()


def finds(text):
    return [(match.group(0), instead) for pattern, instead, _ in COMPILED if (match := pattern.search(text))]


def self_check():
    """Each rule fires on its sample, in a string and on a page, and not on a plain sentence."""
    for pattern, _, sample in COMPILED:
        assert pattern.search(sample), f"{pattern.pattern} does not fire on its sample"
    assert [finds(t) for _, t in strings('f("steps of "\n  "before");  // of before\n')] == [[("of before", IDIOMS[0][1])]]
    assert not finds("The device waits for input 3 ms per step.")
    assert [n for n, t in paragraphs("a\n```\nsteps of before\n```\nsteps of before\n") if finds(t)] == [5]
    assert finds(next(t for _, t in paragraphs("| rows of before | b |"))), "tables are prose"


def main():
    self_check()
    if sys.argv[1:] == ["--self-check"]:
        print(f"language: each of {len(IDIOMS)} rules can fail")
        return 0
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    count, problems = 0, []
    for name in names:
        path = ROOT / name
        if name.startswith(SOURCES) and path.suffix in {".cc", ".h"} and path.is_file():
            texts = strings(path.read_text(errors="replace"))
        elif name.startswith(PAGES) and path.suffix == ".md" and path.is_file():
            texts = list(paragraphs(path.read_text(errors="replace")))
        else:
            continue
        count += len(texts)
        # contributing.md shows bad examples in the first column of a table.
        problems += [f"{name}:{line}: '{idiom}': write: {instead}" for line, text in texts
                     if not (name == "docs/contributing.md" and text.startswith(("| \"", "- No \"")))
                     for idiom, instead in finds(text)]
    print("\n".join(problems + [f"language: {count} texts, {len(problems)} idioms"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
