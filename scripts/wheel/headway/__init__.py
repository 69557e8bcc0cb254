# SPDX-License-Identifier: MIT
"""The programs of Headway as `pip install headway` brings them: native, this module only finds and becomes them."""
import os
import sys

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _become(name):
    program = os.path.join(_FOLDER, name)
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"headway: {program}: {error.strerror}. Install the wheel again: pip install --force-reinstall headway-*.whl")


def main():
    _become("headway")


def train():
    _become("headway-train")
