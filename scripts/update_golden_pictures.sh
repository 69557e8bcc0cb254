#!/usr/bin/env bash
# Writes the golden pictures of the GUI's pages (tests/data/golden/gui) anew from what is built in build/dev.
# Look at each that changed (git status) before you commit it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
HEADWAY_UPDATE_GOLDEN=1 "$root/build/dev/bin/headway_test_gui" -tc="golden pictures:*"
ls -l "$root/tests/data/golden/gui"
