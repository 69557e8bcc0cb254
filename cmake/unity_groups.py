#!/usr/bin/env python3
"""Which sources of a target may be compiled together: prints `GROUP FILE` lines, fewer groups first.

Usage: unity_groups.py FOLDER FILE...    (a file that is alone in its group is not printed)

Two files share a group when no name that one of them declares for itself is declared or used by the other. So names in
anonymous namespaces cannot collide, and no call finds another overload than it does when the file is alone. A file that declares
for itself what a header of another one declares stays alone.
Declarations of a namespace begin in the first column: clang-format sees to that.
"""
import pathlib
import re
import sys

MOST_FILES, MOST_LINES = 16, 3000
SKIP = re.compile(r"\b(namespace|return|extern|static_assert|include|TEST_CASE|case)\b")


def own_names(text):
    """Names of anonymous namespaces and macros; qualified definitions (Type::member) are no names of a file."""
    names = set(re.findall(r"^#define\s+(\w+)", text, re.M))
    for space in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.M | re.S):
        for line in space.split("\n"):
            if line[:1].isalpha() and not SKIP.match(line) and ("=" in line or not line.startswith("using")):
                found = re.match(r"(?:template <.*>\s*)?(.*)", line).group(1)
                if named := re.match(r"(?:class|struct|enum class|enum)\s+(\w+)", found):
                    names.add(named.group(1))  # not its base class
                    continue
                head = re.split(r"[({=;\[]", found.replace("operator()", "operator"), maxsplit=1)[0]
                words = re.findall(r"\w+", re.sub(r"<.*>", "", head))
                if words:
                    names.add(words[-1])
            enumerators = re.match(r"\s+(k[A-Z]\w*)", line)
            if enumerators:
                names.add(enumerators.group(1))
    return names - {"operator", "template", "final", "override"}


def used_names(code):
    """What a name of another file could be taken for: unqualified calls, types and constants."""
    return set(re.findall(r"(?<![.>:\w])[a-z]\w*(?=\s*\()|(?<![.>:\w])[A-Z]\w*|\bk[A-Z]\w*", code))


class Headers:
    """What the headers which a source reads declare at the level of a namespace: types, functions, constants."""

    def __init__(self):
        self.root = pathlib.Path(__file__).resolve().parent.parent
        self.known = {}  # path -> (types, included paths)

    def read(self, path):
        if path not in self.known:
            file = self.root / path
            text = file.read_text() if file.is_file() else ""
            self.known[path] = (set(re.findall(r"^(?:struct|class|enum class|enum|using)\s+(\w+)\b(?!::)", text, re.M)) - {"namespace"}
                                | set(re.findall(r"^[a-zA-Z][\w:<>*&, ]*[ *&](\w+)\(", text, re.M))
                                | set(re.findall(r"^(?:inline |static )*const(?:expr|init)? .*?\b(k[A-Z]\w*)", text, re.M)),
                                re.findall(r'^#include "([^"]+)"', text, re.M))
        return self.known[path]

    def types(self, text):
        names, seen, left = set(), set(), re.findall(r'^#include "([^"]+)"', text, re.M)
        while left:
            path = left.pop()
            if path not in seen:
                seen.add(path)
                names |= self.read(path)[0]
                left += self.read(path)[1]
        return names


def main():
    folder = pathlib.Path(sys.argv[1])
    headers = Headers()
    sources = []  # (file, lines, own names, used names, types of its headers)
    for file in sys.argv[2:]:
        path = folder / file
        if path.suffix == ".cc" and path.is_file():
            text = path.read_text()
            if re.search(r"^using enum", text, re.M):
                continue  # its names would be those of all files after it, in macros too
            code = re.sub(r"//.*|\"(?:\\.|[^\"\\\n])*\"", "", text)
            sources.append((file, text.count("\n"), own_names(text), used_names(code), headers.types(text)))

    def clash(a, b):
        own = a[2].isdisjoint(b[2] | b[3]) and b[2].isdisjoint(a[3])
        return not (own and a[2].isdisjoint(b[4] - a[4]) and b[2].isdisjoint(a[4] - b[4]))

    # Those with the most conflicts first: what is left over fits nearly everywhere.
    conflicts = {a[0]: sum(clash(a, b) for b in sources) for a in sources}
    groups = []
    for source in sorted(sources, key=lambda s: (-conflicts[s[0]], s[0])):
        for group in groups:
            if (len(group) < MOST_FILES and sum(s[1] for s in group) + source[1] <= MOST_LINES
                    and not any(clash(source, s) for s in group)):
                group.append(source)
                break
        else:
            groups.append([source])
    for number, files in enumerate(groups):
        for file, *_ in files if len(files) > 1 else []:
            print(number, file)


main()
