#!/usr/bin/env python3
"""A picture of what a command prints on a terminal, colours and all, for docs/gui; needs Chromium.
Usage: scripts/terminal_picture.py PICTURE COLUMNS COMMAND..."""
import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import sys
import tempfile
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "end_to_end"))
import browser  # noqa: E402

PALETTE = ["#000", "#c0392b", "#2fa37c", "#b8860b", "#2d6cdf", "#8e5b9e", "#2a8c9e", "#ddd"]


def output_of(command, columns):
    """What the command writes to a terminal of that many columns."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PAGER="cat")
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError:  # the end, on Linux
        pass
    os.waitpid(process, 0)
    return text.decode(errors="replace").replace("\r", "")


def style_of(codes, style):
    """The style after an escape sequence's codes."""
    codes = [int(code or 0) for code in codes.split(";")]
    style = dict(style)
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code == 1:
            style["font-weight"] = "bold"
        elif code == 2:
            style["opacity"] = "0.7"
        elif code == 38 and codes[:1] == [2]:
            style["color"] = "rgb({},{},{})".format(*codes[1:4])
            codes = codes[4:]
        elif 30 <= code <= 37:
            style["color"] = PALETTE[code - 30]
    return style


def page_of(text):
    body, style = "", {}
    for i, part in enumerate(re.split(r"\x1b\[([\d;]*)m", re.sub(r"\x1b\[[\d;?]*[A-LN-Za-ln-z]", "", text))):
        if i % 2:
            style = style_of(part, style)
        elif part:
            css = ";".join(f"{key}:{value}" for key, value in style.items())
            body += f'<span style="{css}">{html.escape(part)}</span>'
    return ('<meta charset="utf-8"><body style="margin:0;background:#16191d;color:#e6e8ea"><pre style="margin:16px;font:14px/1.3 '
            f"'DejaVu Sans Mono',monospace\">{body}</pre>")


def main():
    picture, columns, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    program = browser.find()
    if not program:
        sys.exit("terminal_picture.py: needs Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "terminal.html"
        page.write_text(page_of(output_of(command, columns)))
        view = browser.Browser(program)
        try:
            view.open(page, 32 + round(columns * 8.43), 300)
            view.picture(picture, whole=True)
        finally:
            view.close()


if __name__ == "__main__":
    main()
