#!/usr/bin/env python3
"""Man pages and completions (bash, zsh, fish) of a program, from what its --help prints.

Usage: help_pages.py PROGRAM FOLDER    writes FOLDER/man/man1, FOLDER/bash-completion/completions,
                                       FOLDER/zsh/site-functions and FOLDER/fish/vendor_completions.d

Each subcommand gets a man page of its own. Options are declared once, in the program, and CLI11 prints them in columns.
"""
import collections
import gzip
import pathlib
import re
import subprocess
import sys

Row = collections.namedtuple("Row", "names value choices is_file text")
Help = collections.namedtuple("Help", "title usage sections footer examples")
AS_IS = {"view"}  # hands its arguments to headway-gui, which has its own page


def choices_of(value, text):
    """What an option accepts: `FORMAT:{text,csv}`, `all|primary [all]`, `[=auto|on]`, or `… [on, off; default on]` of headway-train."""
    if braces := re.search(r"\{([^}]*)\}", value):
        return braces[1].split(",")
    if bars := re.search(r"[\w-]+(?:\|[\w-]+)+", value):
        return bars[0].split("|")
    if (listed := re.search(r"\[([^\]]*)\]$", text)) and not value:
        words = listed[1].split(";")[0].split(", ")
        if len(words) > 1 and all(re.fullmatch(r"[\w.-]+", word) for word in words):
            return words
    return []


def row_of(name, text):
    first, _, rest = name.partition(" ")
    if optional := re.match(r"(.*?)(\[=.*)", first):
        first, rest = optional.groups()
    if not rest and not first.startswith("-"):
        rest = first
    takes = rest.strip() or ("VALUE" if re.search(r"\[[^\]]*\]$", text) or "name=value" in text else "")
    is_file = bool(re.search(r"\b(FILE|PATH|TRACE|FOLDER|BUDGET)\b", takes))
    return Row(first.split(","), takes, choices_of(rest, text), is_file, text.strip())


def read_help(command):
    result = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, env={"NO_COLOR": "1", "QT_QPA_PLATFORM": "offscreen"})
    lines = result.stdout.splitlines()
    column = next(line.index("Print this help") for line in lines if line.startswith("  -h,--help"))
    usage = next(i for i, line in enumerate(lines) if line.startswith("Usage:"))
    title = " ".join(line for line in lines[:usage] if line)
    sections, footer, rows, examples = [], [], None, []
    i = usage + 1
    while i < len(lines):
        line = lines[i]
        if line.startswith("  ") and rows is examples:
            examples.append(line.strip())
        elif line.startswith("  ") and rows is not None:
            name, text = line[:column].strip(), line[column:]
            if i + 1 < len(lines) and lines[i + 1].startswith(" " * column):
                name, text = line.strip(), lines[i + 1]
                i += 1
            rows.append(row_of(name, text))
        elif line == "Examples:":
            rows = examples
        elif re.fullmatch(r"[A-Z][^.]*:", line):
            rows = []
            sections.append((line[:-1], rows))
        elif line.strip():
            footer.append(line)
            rows = None
        i += 1
    return Help(title, lines[usage].removeprefix("Usage: "), sections, footer, examples)


def options(page):
    return [row for _, rows in page.sections for row in rows if row.names[0].startswith("-")]


def positionals(page):
    return [row for name, rows in page.sections for row in rows if name == "Positionals"]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def man_page(name, page, version, commands, see_also):
    title = page.title.rstrip(".")
    if title.lower().startswith(name + ": "):
        title = title[len(name) + 2:]
    if commands:
        title = title.removeprefix("Headway ")
    program, _, command = name.partition(" ")
    out = [f'.TH {name.replace(" ", "-").upper()} 1 "" "{version}" "Headway"', ".SH NAME",
           f"{roff(name.replace(' ', '-'))} \\- {roff(title.split('. ')[0])}", ".SH SYNOPSIS",
           f".B {roff(name)}", roff(page.usage.removeprefix(name).strip())]
    if len(title.split(". ")) > 1:
        out += [".SH DESCRIPTION", roff(title + ".")]
    for heading, rows in page.sections:
        heading = {"Subcommands": "COMMANDS", "Positionals": "ARGUMENTS"}.get(heading, heading.upper())
        out.append(f'.SH "{roff(heading)}"')
        for row in rows:
            if row.names[0] in commands and row.names[0] not in AS_IS:
                out += [".TP", f".BR {roff(name + '-' + row.names[0])} (1)", roff(row.text)]
                continue
            head = ", ".join(f"\\fB{roff(part)}\\fR" for part in row.names)
            value = "" if row.value in row.names else row.value
            out += [".TP", head + (f" \\fI{roff(value)}\\fR" if value and not value.startswith("[") else roff(value)), roff(row.text)]
    if page.examples:
        out.append(".SH EXAMPLES")
        for line in page.examples:
            what, _, text = line.partition(" # ")
            out += [".TP", f"\\fB{roff(what.strip())}\\fR", roff(text.strip()[:1].upper() + text.strip()[1:]) or "\\&"]
    if page.footer:
        out.append(".SH NOTES")
        for line in page.footer:
            out += [".PP", roff(line)]
    if program == "headway" and not command:
        out += [".SH EXIT STATUS", roff("0 fine, 1 over budget, 2 wrong command line, 3 a file that cannot be used, 4 an internal error; "
                                        "run and record end with the status of the command.")]
    others = [other for other in see_also if other != name.replace(" ", "-")]
    out += [".SH SEE ALSO", ",\n".join(f".BR {roff(other)} (1)" for other in others).replace(" (1),", ' "(1), "')]
    return "\n".join(out) + "\n"


def words(row):
    return " ".join(row.choices)


def bash(program, pages):
    function = "_" + program.replace("-", "_")
    commands = [name for name in pages if name]
    lines = [f"# bash completion of {program}; made from its --help", f"{function}() {{",
             "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i",
             "  # Bash takes `--option=value` apart.",
             "  if [[ $cur == = ]]; then",
             "    cur=",
             "  elif [[ $prev == = && $COMP_CWORD -gt 1 ]]; then",
             "    prev=${COMP_WORDS[COMP_CWORD - 2]}",
             "  fi"]
    if commands:
        lines += ["  command=${COMP_WORDS[1]}",
                  "  for ((i = 2; i < COMP_CWORD; i++)); do",
                  "    if [[ ${COMP_WORDS[i]} == -- ]]; then  # the command to record",
                  "      declare -F _command_offset >/dev/null && _command_offset $((i + 1))",
                  "      return",
                  "    fi",
                  "  done",
                  "  if ((COMP_CWORD == 1)); then",
                  f"    COMPREPLY=($(compgen -W '{' '.join(commands + option_names(pages['']))}' -- \"$cur\"))",
                  "    return",
                  "  fi"]
    lines.append("  case \"$command $prev\" in")
    for name, page in pages.items():
        for row in options(page):
            if not row.value:
                continue
            pattern = "|".join(f"'{name} {option}'" for option in row.names)
            reply = f"COMPREPLY=($(compgen -W '{words(row)}' -- \"$cur\"))" if row.choices else "COMPREPLY=()"
            if not row.value.startswith("["):
                lines.append(f"    {pattern}) {reply}; return ;;")
            else:  # a value only after `=`
                lines.append(f"    {pattern}) if [[ ${{COMP_WORDS[*]}} == *{row.names[-1]}\\ =* ]]; then {reply}; return; fi ;;")
    lines += ["  esac", "  case $command in"]
    for name, page in pages.items():
        if commands and not name:
            continue
        offered = [word for row in positionals(page) for word in row.choices]
        lines.append(f"    {name or chr(39) * 2}) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '{' '.join(option_names(page))}' -- \"$cur\"));"
                     + (f" else COMPREPLY=($(compgen -W '{' '.join(offered)}' -- \"$cur\"));" if offered else "") + " fi ;;")
    lines += ["  esac", "}", f"complete -o default -F {function} {program}"]
    return "\n".join(lines) + "\n"


def option_names(page):
    return [option for row in options(page) for option in row.names]


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh(program, pages):
    def specs(page, indent):
        lines = []
        for row in options(page):
            value = ""
            if row.choices:
                value = f":value:({words(row)})"
            elif row.value:
                value = ":file:_files" if row.is_file else ":value: "
            for option in row.names:
                after = "" if not value else "-" if row.value.startswith("[") else "=" if option.startswith("--") else "+"
                others = f"({' '.join(row.names)})" if len(row.names) > 1 else ""
                lines.append(f"{indent}'{others}{option}{after}[{zsh_text(row.text)}]{value}'")
        places = positionals(page)
        for number, row in enumerate(places, 1):  # zsh takes one rest only
            place = "*" if row is places[-1] else number
            lines.append(f"{indent}'{place}:{zsh_text(row.names[0])}:" + (f"({words(row)})'" if row.choices else "_files'"))
        return " \\\n".join(lines)

    commands = [name for name in pages if name]
    lines = [f"#compdef {program}", f"# zsh completion of {program}; made from its --help"]
    if not commands:
        return "\n".join(lines + ["_arguments -s -S \\", specs(pages[""], "  ")]) + "\n"
    lines += ["local end=${words[(i)--]}", "if (( end < CURRENT )); then  # the command to record",
              "  shift $end words", "  (( CURRENT -= end ))", "  _normal", "  return", "fi",
              "if (( CURRENT == 2 )); then", "  local -a commands=("]
    texts = {row.names[0]: row.text for heading, rows in pages[""].sections if heading == "Subcommands" for row in rows}
    lines += [f"    '{name}:{zsh_text(texts[name])}'" for name in commands]
    lines += ["  )", f"  _describe -t commands '{program} command' commands -- ", "  _arguments \\", specs(pages[""], "    "), "  return", "fi",
              "local command=${words[2]}", "shift words", "(( CURRENT-- ))", "case $command in"]
    for name in commands:
        lines += [f"  {name})", "    _arguments -s -S \\", specs(pages[name], "      "), "    ;;"]
    return "\n".join(lines + ["esac"]) + "\n"


def fish(program, pages):
    quote = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    commands = [name for name in pages if name]
    lines = [f"# fish completion of {program}; made from its --help"]
    texts = {row.names[0]: row.text for heading, rows in pages[""].sections if heading == "Subcommands" for row in rows}
    for name in commands:
        lines.append(f"complete -c {program} -n __fish_use_subcommand -f -a {name} -d {quote(texts[name])}")
    for name, page in pages.items():
        when = f" -n '__fish_seen_subcommand_from {name}'" if name else " -n __fish_use_subcommand" if commands else ""
        for row in options(page):
            flags = " ".join(("-l " if option.startswith("--") else "-s ") + option.lstrip("-") for option in row.names)
            value = f" -x -a {quote(words(row))}" if row.choices else "" if not row.value else " -r" if row.is_file else " -x"
            lines.append(f"complete -c {program}{when} {flags}{value} -d {quote(row.text)}")
        for row in positionals(page):
            if row.choices:
                lines.append(f"complete -c {program}{when} -f -a {quote(words(row))}")
    return "\n".join(lines) + "\n"


def main():
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    program = path.name
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True, env={"QT_QPA_PLATFORM": "offscreen"}).stdout.strip()
    version = re.sub(r" \(.*", "", version)
    pages = {"": read_help([path])}
    commands = [row.names[0] for heading, rows in pages[""].sections if heading == "Subcommands" for row in rows]
    for command in commands:
        if command in AS_IS:
            pages[command] = Help("", "", [("Positionals", [row_of("TRACE", "")])], [], [])
        else:
            pages[command] = read_help([path, command])
    manuals = ["headway"] + [f"headway-{command}" for command in commands if command not in AS_IS]
    if program != "headway":
        manuals = ["headway"]
    for name in ("headway-gui", "headway-train"):
        if name not in manuals and name != program:
            manuals.append(name)

    def write(where, name, text, packed=False):
        target = folder / where / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(text.encode(), 9, mtime=0) if packed else text.encode())

    for command, page in pages.items():
        if command in AS_IS:
            continue
        name = f"{program} {command}".strip()
        write("man/man1", name.replace(" ", "-") + ".1.gz", man_page(name, page, version, set(commands) if not command else (), manuals), packed=True)
    write("bash-completion/completions", program, bash(program, pages))
    write("zsh/site-functions", "_" + program, zsh(program, pages))
    write("fish/vendor_completions.d", program + ".fish", fish(program, pages))


main()
