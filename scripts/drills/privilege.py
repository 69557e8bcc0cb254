#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Another user of the machine tries to get at a recording: its socket, its trace, its shared memory. Needs root, which becomes that
other user; without it says so and ends with 0. privilege.py HEADWAY TARGET, where TARGET is a program that makes NVTX ranges."""
import array
import contextlib
import os
import pathlib
import re
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import time

OTHER = 65534
LAYOUT = pathlib.Path(__file__).resolve().parents[2] / "collector/wire/layout.h"
VERSION = int(re.search(r"kVersion = (\d+);", LAYOUT.read_text())[1])
HEADWAY, TARGET = [str(pathlib.Path(word).resolve()) for word in sys.argv[1:3]]


def as_other(what):
    """Runs `what` as the other user; its text, or what kept it from happening."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(OTHER, OTHER, OTHER)
            os.setresuid(OTHER, OTHER, OTHER)
            said = what()
        except Exception as error:
            said = f"{type(error).__name__}"
        os.write(writing, str(said).encode()[:4000])
        os._exit(0)
    os.close(writing)
    text = b""
    while part := os.read(reading, 4096):
        text += part
    os.close(reading)
    os.waitpid(child, 0)
    return text.decode()


def hello(path):
    """Introduces itself as a recorded process does, with memory; what the recorder answers."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(2)
    connection.connect(path)
    memory = os.memfd_create("stranger", os.MFD_ALLOW_SEALING)
    message = struct.pack("=QIIIi", 0x314d535941574448, VERSION, 0, 0, 0)
    connection.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))])
    return connection.recv(64).hex() or "closed"


def count(trace, sql):
    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
        return database.execute(f"SELECT count(*) FROM {sql}").fetchone()[0]


def wait_for(what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise SystemExit("FAILED: the recording did not begin")


def main():
    if os.geteuid() != 0:
        print("[skipped]: needs root to become another user")
        return
    failed = []

    def check(what, good):
        print(f"{'ok' if good else 'FAILED'}: {what}")
        if not good:
            failed.append(what)

    with tempfile.TemporaryDirectory(prefix="headway drill ") as name:
        os.chmod(name, 0o755)  # all that protects is what the recorder does
        folder = pathlib.Path(name)
        trace = folder / "run.sqlite"
        script = f"echo $HEADWAY_SESSION >'{folder}/session'; '{TARGET}' 2 1; exec sleep 300"
        recorder = subprocess.Popen([HEADWAY, "record", "--quiet", "-o", trace, "--", "sh", "-c", script],
                                    env={**os.environ, "TMPDIR": name, "XDG_RUNTIME_DIR": ""})
        try:
            session = wait_for(lambda: (folder / "session").exists() and (folder / "session").read_text().strip())
            wait_for(lambda: count(trace, "sqlite_master") > 5)
            for file in [trace, *folder.glob("run.sqlite-*")]:
                check(f"{file.name} is its user's alone", stat.S_IMODE(file.stat().st_mode) == 0o600)
                check(f"another user cannot read {file.name}", as_other(lambda: open(file, "rb").read(1)) == "PermissionError")
            check("another user cannot reach the socket", as_other(lambda: hello(session)) == "PermissionError")
            memory = f"/proc/{recorder.pid}/map_files"
            check("another user cannot see the recorder's memory", as_other(lambda: os.listdir(memory)) == "PermissionError")
            check("another user cannot end the recorder", as_other(lambda: os.kill(recorder.pid, 15)) == "PermissionError")
            # Even where somebody has opened the way, the recorder takes nobody else's memory.
            os.chmod(pathlib.Path(session).parent, 0o777)
            os.chmod(session, 0o777)
            answer = as_other(lambda: hello(session))
            check(f"a stranger on the socket is turned away ({answer})", answer in ("closed", "ConnectionResetError"))
            check("its own user is answered on it", len(hello(session)) > len("closed"))
            check("the recorder is still there", recorder.poll() is None)
        finally:
            recorder.terminate()
            recorder.wait(60)
        rows = count(trace, "NVTX_EVENTS WHERE eventType=59")
        check(f"the recording holds its {rows} ranges", rows == 20)
        # A program that makes itself a user namespace is still its user's.
        inner = folder / "inner.sqlite"
        if subprocess.run(["unshare", "--user", "--map-root-user", "true"], stderr=subprocess.DEVNULL).returncode == 0:
            subprocess.run([HEADWAY, "record", "--quiet", "-o", inner, "--", "unshare", "--user", "--map-root-user", TARGET, "2", "1"],
                           check=True, timeout=60)
            rows = count(inner, "NVTX_EVENTS WHERE eventType=59")
            check(f"a program in a user namespace of its own is recorded ({rows} ranges)", rows == 20)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
