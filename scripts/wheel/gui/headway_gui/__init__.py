# SPDX-License-Identifier: MIT
"""The window of Headway as `pip install` brings it: native, this module only finds and becomes it."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "headway-gui")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"headway-gui: {program}: {error.strerror}. Install the wheel again: pip install --force-reinstall headway_gui-*.whl")
