#!/usr/bin/env python3
"""What the commands do on a terminal: pager, colours. terminal_test.py BIN_FOLDER TRACE_MAKER. Exit status 0: passed."""
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios

BIN = pathlib.Path(sys.argv[1]).resolve()
MAKER = pathlib.Path(sys.argv[2]).resolve()


def on_terminal(folder, *command, rows=24, **environment):
    """What is on a terminal of so many rows and 110 columns after the command."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 110, 0, 0))
    settings = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", **environment}
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=end, stderr=end, cwd=folder, env=settings)
    os.close(end)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(terminal)
    assert process.wait() == 0, text
    return text.decode().replace("\r\n", "\n")


def paged(folder):
    headway = BIN / "headway"
    whole = subprocess.run([headway, "report", "--full", "run.sqlite"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert whole.count("\n") > 50
    keep = {"HEADWAY_PAGER": "cat > paged.txt"}
    assert on_terminal(folder, headway, "report", "--full", "run.sqlite", **keep) == ""
    assert (folder / "paged.txt").read_text() == whole
    (folder / "paged.txt").unlink()
    # The first that is set counts; what fits, what is not wanted, and what there is no pager for are printed.
    assert on_terminal(folder, headway, "report", "--full", "run.sqlite", PAGER="sed s/^/paged:/").startswith("paged:")
    assert on_terminal(folder, headway, "report", "--full", "run.sqlite", rows=2000, **keep) == whole
    assert on_terminal(folder, headway, "report", "--full", "run.sqlite", HEADWAY_PAGER="", PAGER="sed s/^/paged:/") == whole
    assert on_terminal(folder, headway, "report", "--full", "run.sqlite", HEADWAY_PAGER="headway-no-such-pager 2>/dev/null") == whole
    assert not (folder / "paged.txt").exists()
    for words in (["stats", "run.sqlite"], ["explain"], ["whatif", "run.sqlite"]):
        on_terminal(folder, headway, *words, rows=8, **keep)
        assert (folder / "paged.txt").read_text().count("\n") >= 8, words
        (folder / "paged.txt").unlink()
    assert on_terminal(folder, headway, "report", "--full", "--no-pager", "run.sqlite", **keep) == whole
    pair = ["diff", "run.sqlite", "run.sqlite"]
    for words in (["stats", "run.sqlite"], ["explain"], ["whatif", "run.sqlite"], ["history", "."], pair):
        assert on_terminal(folder, headway, *words, "--no-pager", rows=4, **keep), words
        assert not (folder / "paged.txt").exists(), words
    # A pager that somebody leaves at once is no failure.
    on_terminal(folder, headway, "stats", "run.sqlite", HEADWAY_PAGER="true")


def coloured(folder):
    report = [BIN / "headway", "report", "run.sqlite"]
    assert "\x1b[1m" in on_terminal(folder, *report, rows=60)
    assert "\x1b" not in on_terminal(folder, *report, rows=60, NO_COLOR="1")
    assert "\x1b" not in on_terminal(folder, *report, rows=60, TERM="dumb")


with tempfile.TemporaryDirectory(prefix="headway terminal ") as name:
    place = pathlib.Path(name)
    subprocess.run([MAKER, place / "run.sqlite"], check=True, capture_output=True)
    paged(place)
    coloured(place)
