#!/usr/bin/env python3
"""Man pages and completions as cmake/help_pages.py makes them of the built programs: help_pages_test.py BIN_FOLDER SCRIPT. Exit status 0: passed."""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1]).resolve()
SCRIPT = pathlib.Path(sys.argv[2]).resolve()
PROGRAMS = [name for name in ("headway", "headway-train", "headway-gui") if (BIN / name).exists()]


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)


def help_of(program, *command):
    return run(BIN / program, *command, "--help", env={"QT_QPA_PLATFORM": "offscreen"}).stdout


def long_options(text):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z][\w-]*)", text, re.M))


def man_pages(share):
    commands = re.findall(r"^  ([a-z]+) {2,}", help_of("headway").split("Subcommands:")[1], re.M)
    assert len(commands) > 10, commands
    for program, command in [(program, None) for program in PROGRAMS] + [("headway", command) for command in commands if command != "view"]:
        page = share / "man/man1" / ("-".join(filter(None, (program, command))) + ".1.gz")
        text = gzip.decompress(page.read_bytes()).decode()
        options = long_options(help_of(program, *filter(None, [command])))
        assert options, page
        missing = [option for option in options if option.replace("-", "\\-") not in text]
        assert not missing, (page.name, missing)
        if shutil.which("groff"):
            shown = run("groff", "-man", "-Tutf8", "-P-cbou", "-ww", "-Kutf8", "-rLL=100n", input=text)
            assert shown.returncode == 0 and "NAME" in shown.stdout, page.name
            problems = [line for line in shown.stderr.splitlines() if "adjust" not in line and "break" not in line]
            assert not problems, (page.name, problems)


def examples(share):
    """Each command shows examples, and each example is a command line of that command with options that it has."""
    commands = re.findall(r"^  ([a-z]+) {2,}", help_of("headway").split("Subcommands:")[1], re.M)
    wanted = [("headway", command) for command in commands if command != "view" or "headway-gui" in PROGRAMS]
    for program, command in wanted + [(name, None) for name in PROGRAMS if name != "headway"]:
        text = help_of(program, *filter(None, [command]))
        shown = re.findall(r"^  (headway.*?)(?: +# .*)?$", text.partition("Examples:\n")[2], re.M)
        assert shown, (program, command)
        for line in shown:
            own = line.split(" -- ")[0]
            assert command is None or own.split()[1] == command, line
            used = set(re.findall(r" (--[a-z][\w-]*)", own)) - ({"--num-workers", "--pin-memory"} if command == "tune" else set())
            assert used <= long_options(text) or line.startswith("headway run -- "), (line, used - long_options(text))
        page = share / "man/man1" / ("-".join(filter(None, (program, command))) + ".1.gz")
        if command != "view":
            assert ".SH EXAMPLES" in gzip.decompress(page.read_bytes()).decode(), page


def completed(share, line, folder):
    """What bash offers at the end of `line`."""
    program = line.split()[0]
    script = f"""source '{share}/bash-completion/completions/{program}'
      COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
      COMP_WORDS=({line.replace('=', ' = ')}{" ''" if line.endswith((" ", "=")) else ""}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
      {'_' + program.replace('-', '_')}; printf '%s\\n' "${{COMPREPLY[@]}}" """
    result = run("bash", "--norc", "-c", script, cwd=folder)
    assert result.returncode == 0 and not result.stderr, (line, result.stderr)
    return result.stdout.split()


def bash(share, folder):
    def offers(line):
        return completed(share, line, folder)
    assert {"run", "report", "whatif", "explain"} <= set(offers("headway "))
    assert offers("headway rep") == ["report"]
    assert offers("headway run --pyt") == ["--pytorch"]
    assert offers("headway run --pytorch=") == ["auto", "on", "ops", "off"]
    assert offers("headway run --wait pr") == ["primary"]
    assert offers("headway stats run.sqlite --format m") == ["markdown"]
    assert offers("headway reference ti") == ["time-classes"]
    assert set(long_options(help_of("headway", "check"))) <= set(offers("headway check --"))
    assert offers("headway report ") == [], "files are left to bash"
    assert offers("headway-train --model tr") == ["transformer"]
    assert offers("headway-train --sour") == ["--source"]
    assert set(long_options(help_of("headway-train"))) <= set(offers("headway-train --"))


def other_shells(share):
    for shell, pattern in (("zsh", "zsh/site-functions/_*"), ("fish", "fish/vendor_completions.d/*.fish")):
        files = sorted(share.glob(pattern))
        assert len(files) == len(PROGRAMS), files
        for file in files:
            if shell == "zsh":  # refuses two, and only once somebody asks
                blocks = file.read_text().split("_arguments")[1:]
                assert blocks and all(block.count("'*:") <= 1 for block in blocks), file
            if shutil.which(shell):
                assert run(shell, "-n", file).returncode == 0, file
    if shutil.which("fish"):
        file = share / "fish/vendor_completions.d/headway.fish"
        offered = run("fish", "--no-config", "-c", f"source '{file}'; complete -C 'headway run --wait '").stdout.split()
        assert {"all", "primary"} <= set(offered), offered


with tempfile.TemporaryDirectory(prefix="headway pages ") as name:
    place = pathlib.Path(name)
    for one in PROGRAMS:
        made = run(sys.executable, SCRIPT, BIN / one, place / "share")
        assert made.returncode == 0, made.stderr
    man_pages(place / "share")
    examples(place / "share")
    bash(place / "share", place)
    other_shells(place / "share")
