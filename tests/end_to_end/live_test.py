#!/usr/bin/env python3
"""headway run --live, headway watch and headway mcp: live_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import asyncio
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.error
import urllib.request

BIN = pathlib.Path(sys.argv[1]).resolve()
HEADWAY = str(BIN / "headway")
REGION = re.compile(rb"\x1b\[1;(\d+)r")
# What belongs to the panel: each frame saves the cursor and restores it; room is made by scrolling.
PANEL = re.compile(rb"\x1b7.*?\x1b8|(?:\x1bD)+\x1b\[\d+A|\x1b\[J", re.S)


class Skipped(Exception):
    pass


class Terminal:
    """A command on a terminal of its own, and all that it was sent."""

    def __init__(self, command, rows=24, columns=80, **environment):
        self.sent = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            values = {**os.environ, "TERM": "xterm-256color", **environment}
            values = {name: value for name, value in values.items() if value is not None}
            os.execvpe(str(command[0]), [str(word) for word in command], values)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, until=None, seconds=60):
        """Until that was sent or, without it, until nobody writes any more."""
        end = time.monotonic() + seconds
        while until is None or not re.search(until, self.sent, re.S):
            assert time.monotonic() < end, (until, self.sent[-2000:])
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                got = b""
            if not got:
                assert until is None, (until, self.sent[-2000:])
                break
            self.sent += got
        return self

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def text(self):
        return PANEL.sub(b"", self.sent).decode()

    def is_restored(self):
        """The last word about the scroll region is that there is none."""
        regions = list(re.finditer(rb"\x1b\[(?:1;\d+)?r", self.sent))
        return bool(regions) and regions[-1].group() == b"\x1b[r"


def target(folder, body):
    file = folder / "target.py"
    file.write_text("import os, sys, time\n" + body)
    return [sys.executable, "-u", file]


def recorded(folder, command, *options):
    return [HEADWAY, "run", "--no-html", "--live", "-o", folder / "run.sqlite", "--force", *options, "--", *command]


def trainer(steps):
    return [BIN / "headway-train", "--device", "host", "--steps", str(steps), "--eval", "off", "--quiet"]


def lines(folder):
    """Without a terminal: a plain line now and then on stderr, nothing on the command's stdout."""
    result = subprocess.run([str(w) for w in recorded(folder, trainer(60), "--live=0.5")], capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    told = [line for line in result.stderr.splitlines() if " steps, step " in line]
    assert len(told) >= 2 and "\x1b" not in result.stderr, result.stderr
    done = [int(re.search(r"([\d\u202f]+) steps", line).group(1).replace("\u202f", "")) for line in told]
    assert done == sorted(done) and 0 < done[0] and done[-1] <= 60, done
    assert "over the run" in told[-1] and "Compute" in told[-1], told[-1]
    assert " steps, step " not in result.stdout and "the panel used" in result.stderr


def panel(folder):
    """On a terminal that the command writes to: its output is whole, and nothing is left of the panel."""
    body = "for i in range(120):\n    print(f'line {i:03}')\n    time.sleep(0.03)\nprint('no end', end='', flush=True)\ntime.sleep(1.2)\n"
    body += "print(' of line')\nsys.stderr.write('and an error\\n')\n"
    for rows, columns in ((24, 80), (10, 40), (50, 120)):
        terminal = Terminal(recorded(folder, target(folder, body)), rows, columns).read()
        assert terminal.status() == 0
        expected = "".join(f"line {i:03}\r\n" for i in range(120)) + "no end of line\r\nand an error\r\n"
        assert expected in terminal.text(), terminal.text()
        assert terminal.is_restored() and REGION.search(terminal.sent) and b"no step yet" in terminal.sent
        shown = re.findall(rb"\x1b\[2K(.*?)\x1b\[0m(?=\x1b\[\d+;1H|\x1b8)", terminal.sent)
        widest = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line.decode())) for line in shown)
        assert widest == columns, widest
    for terminal_type in (None, "dumb"):
        terminal = Terminal(recorded(folder, target(folder, body)), TERM=terminal_type).read()
        assert terminal.status() == 0 and b"\x1b7" not in terminal.sent and not REGION.search(terminal.sent), terminal_type


def resized(folder):
    terminal = Terminal(recorded(folder, target(folder, "print('begun')\ntime.sleep(8)\n")), 24, 80).read(rb"\x1b\[1;(1\d)r")
    for rows in (40, 12, 30):
        terminal.resize(rows, 60)
        lines_of_panel = min(rows // 3, 9)
        terminal.read(rb"\x1b\[1;(?:%s)r" % b"|".join(b"%d" % (rows - k) for k in range(1, lines_of_panel + 1)), seconds=20)
    terminal.resize(6, 60)
    before = len(terminal.sent)
    time.sleep(1.5)
    terminal.read()
    assert terminal.status() == 0 and terminal.is_restored() and not REGION.search(terminal.sent[before:])


def endings(folder):
    """However it ends, the terminal scrolls as a whole again."""
    body = "open('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'pid.done')\nprint('begun')\ntime.sleep(60)\n"
    os.chdir(folder)
    for kind in ("killed", "crashed", "interrupted", "terminated", "recorder killed", "clears"):
        pathlib.Path("pid.done").unlink(missing_ok=True)
        ending = {"crashed": "time.sleep(2.5)\nos.abort()\n", "clears": "sys.stdout.write('\\033[2J\\033[H')\ntime.sleep(2)\n"}.get(kind, "")
        code = body if not ending else body.replace("time.sleep(60)\n", ending)
        terminal = Terminal(recorded(folder, target(folder, code))).read(REGION.pattern)
        terminal.read(rb"begun")
        pid = int(pathlib.Path("pid.done").read_text())
        if kind == "killed":
            os.kill(pid, signal.SIGKILL)
        elif kind == "interrupted":
            os.write(terminal.fd, b"\x03")
        elif kind == "terminated":
            os.kill(terminal.pid, signal.SIGTERM)
        elif kind == "recorder killed":
            os.kill(terminal.pid, signal.SIGKILL)
            end = time.monotonic() + 20
            while not terminal.is_restored() and time.monotonic() < end:
                if select.select([terminal.fd], [], [], 0.2)[0]:
                    terminal.sent += os.read(terminal.fd, 65536)
            os.kill(pid, signal.SIGKILL)
        if kind != "recorder killed":
            terminal.read()
        status = terminal.status()
        expected = {"killed": 137, "crashed": 134, "interrupted": 130, "terminated": 143, "recorder killed": -9, "clears": 0}[kind]
        assert status == expected and terminal.is_restored(), (kind, status, terminal.sent[-500:])


def watch(folder):
    """Waits for the file, follows it, says how it ended, leaves on Ctrl-C, knows a cut recording."""
    file = folder / "run.sqlite"
    watching = Terminal([HEADWAY, "watch", file]).read(rb"\x1b\[\?1049h.*waiting for a recording")
    quiet = subprocess.Popen([HEADWAY, "watch", str(file), "--interval", "0.5"], stdout=subprocess.PIPE, text=True)
    recording = subprocess.Popen([str(w) for w in [HEADWAY, "record", "--quiet", "-o", file, "--", *trainer(80)]])
    watching.read(rb"over the run")
    assert recording.wait(240) == 0 and watching.read().status() == 0
    assert watching.sent.count(b"\x1b[?1049l") == 1 and b"run ended after" in watching.sent.split(b"\x1b[?1049l")[1]
    assert b"exit code 0" in watching.sent
    told = quiet.communicate(timeout=60)[0]
    assert quiet.returncode == 0 and "waiting for" in told and "over the run" in told and "run ended" in told, told
    before = file.read_bytes()
    ended = subprocess.run([HEADWAY, "watch", str(file)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and "run ended after" in ended.stdout and file.read_bytes() == before
    leaving = Terminal([HEADWAY, "watch", folder / "never.sqlite"]).read(rb"waiting")
    os.write(leaving.fd, b"\x03")
    assert leaving.read().status() == 0 and leaving.sent.endswith(b"\x1b[?1049l")
    pid = folder / "pid"
    code = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    cut = subprocess.Popen([str(w) for w in [HEADWAY, "record", "--quiet", "-o", folder / "cut.sqlite", "--", *target(folder, code)]])
    while not pid.exists() or not pid.read_text():
        time.sleep(0.05)
    follower = subprocess.Popen([HEADWAY, "watch", str(folder / "cut.sqlite")], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    cut.kill()
    cut.wait()
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert "was cut" in follower.communicate(timeout=60)[0] and follower.returncode == 0
    (folder / "text").write_text("no trace")
    wrong = subprocess.run([HEADWAY, "watch", str(folder / "text")], capture_output=True, text=True, timeout=60)
    assert "is not a trace" in wrong.stdout + wrong.stderr and wrong.returncode == 3, wrong
    assert subprocess.run([HEADWAY, "watch", str(folder)], capture_output=True, timeout=60).returncode == 2


def ranks(folder):
    """One file of two ranks tells both, while it is recorded."""
    run = [HEADWAY, "record", "--quiet", "-o", folder / "run.sqlite", "--", *trainer(60), "--ranks", "2"]
    recording = subprocess.Popen([str(w) for w in run])
    told = subprocess.run([HEADWAY, "watch", str(folder / "run.sqlite"), "--interval", "1", "--prometheus", "0"],
                          capture_output=True, text=True, timeout=240)
    assert recording.wait(240) == 0 and told.returncode == 0 and "over the run" in told.stdout, told


def prometheus(folder):
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError as missing:
        raise Skipped("prometheus-client is not installed") from missing
    run = [HEADWAY, "record", "--quiet", "-o", folder / "run.sqlite", "--", *trainer(100)]
    recording = subprocess.Popen([str(w) for w in run])
    watching = subprocess.Popen([HEADWAY, "watch", str(folder / "run.sqlite"), "--prometheus", "0"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
    address = re.search(r"http://127\.0\.0\.1:\d+/metrics", watching.stderr.readline()).group()
    values = {}
    while ("headway_step_cost_seconds", "run") not in values:
        assert recording.poll() is None, values
        time.sleep(0.2)
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            families = list(text_string_to_metric_families(answer.read().decode()))
        values = {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}
    assert all(family.type != "unknown" and family.documentation for family in families)
    classes = sum(value for key, value in values.items() if key[0] == "headway_step_class_seconds")
    assert abs(classes - values["headway_step_cost_seconds", "last"]) < 1e-6 < classes, values
    assert values["headway_steps_total",] > 0 and values["headway_dropped_events_total",] == 0, values
    assert values["headway_samples_per_second",] > 0 and values["headway_recording",] == 1
    try:
        urllib.request.urlopen(address + "x", timeout=10)
        raise AssertionError("served what is not there")
    except urllib.error.HTTPError as error:
        assert error.code == 404
    recording.kill()
    watching.kill()
    wrong = subprocess.run([HEADWAY, "watch", "x.sqlite", "--prometheus", "here"], capture_output=True, timeout=60)
    assert wrong.returncode == 2, wrong


def mcp(folder):
    try:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
    except ImportError as missing:
        raise Skipped("mcp is not installed") from missing
    files = [str(folder / f"{name}.sqlite") for name in ("slow", "quick")]
    for file, preset in zip(files, ("input-bound", "healthy")):
        subprocess.run([BIN / "headway-train", "--device", "sim", "--preset", preset, "--steps", "40", "--quiet", "--trace", file],
                       check=True, timeout=240)
    before = pathlib.Path(files[0]).read_bytes()

    async def talk():
        async with stdio_client(StdioServerParameters(command=HEADWAY, args=["mcp"])) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                assert [tool.name for tool in (await session.list_tools()).tools] == ["report", "stats", "whatif", "diff", "explain"]

                async def call(tool, failed=False, **arguments):
                    result = await session.call_tool(tool, arguments)
                    told = result.model_dump(by_alias=True)
                    assert bool(told.get("isError")) == failed, told
                    return told["content"][0]["text"]

                verdict = await call("report", trace=[files[0]])
                assert "Verdict" in verdict and "nput" in verdict, verdict
                report = json.loads(await call("report", trace=[files[0]], json=True))
                step = report["steps"]["step_cost_ns"]
                steps = await call("stats", trace=files[0], tables=["steps"], rows=3)
                assert "Step" in steps, steps
                count = await call("stats", trace=files[0], sql="SELECT count(*) AS ranges FROM NVTX_EVENTS", json=True)
                assert json.loads(count)["tables"][0]["rows"][0]["ranges"] > 40, count
                for refused in ("DELETE FROM NVTX_EVENTS", "CREATE TABLE x(y)", "ATTACH '/tmp/x' AS x"):
                    assert "refused" in await call("stats", failed=True, trace=files[0], sql=refused)
                fixes = json.loads(await call("whatif", trace=[files[0]], json=True))
                best = max(one["gain_share"] if "gain_share" in one else 0 for one in fixes["fixes"])
                assert best > 0.1 and step > 0, fixes["fixes"][:2]
                assert "faster" in await call("diff", a=files[0], b=files[1])
                assert "Symptom" in await call("explain", rule="input-bound")
                await call("report", failed=True, trace=["/does/not/exist.sqlite"])

    asyncio.run(talk())
    assert pathlib.Path(files[0]).read_bytes() == before
    hostile = ["", "{", "[" * 5000, '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stats"}}', "x" * (9 << 20), "[]",
               '{"jsonrpc":"2.0","id":2,"method":"ping"}']
    answers = subprocess.run([HEADWAY, "mcp"], input="\n".join(hostile), capture_output=True, text=True, timeout=60)
    codes = [json.loads(line).get("error", {}).get("code") for line in answers.stdout.splitlines()]
    assert answers.returncode == 0 and codes == [-32700, -32700, -32602, -32600, -32600, None], (codes, answers.stderr)


if __name__ == "__main__":
    case = {f.__name__: f for f in (lines, panel, resized, endings, watch, ranks, prometheus, mcp)}[sys.argv[2]]
    try:
        with tempfile.TemporaryDirectory(prefix="headway test ") as name:
            case(pathlib.Path(name))
            os.chdir("/")
    except Skipped as reason:
        print(f"[skipped] {reason}")
