#!/usr/bin/env python3
"""Relative links of the Markdown pages lead to files and headings that exist. Exit status 1 and a line for each that does not."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page):
    """GitHub's: lower case, without punctuation, spaces become hyphens."""
    titles = re.findall(r"^#+ +(.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def main():
    pages = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split("\n")
    problems = []
    links = 0
    for name in filter(None, pages):
        page = ROOT / name
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for link in LINK.findall(text):
            if "://" in link or link.startswith("mailto:"):
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                problems.append(f"{name}: no such file: {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                problems.append(f"{name}: no such heading: {link}")
    print("\n".join([*problems, f"links: {links} links, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
