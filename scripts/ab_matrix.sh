#!/bin/sh
# SPDX-License-Identifier: MIT
# The gain of every switch of headway-train on this machine, with intervals (scripts/ab_matrix.py says how).
# Usage: scripts/ab_matrix.sh [BIN_FOLDER] [OPTIONS OF ab_matrix.py]; results in build/ab_matrix/.
set -eu
cd "$(dirname "$0")/.."
bin=build/dev/bin
case "${1:-}" in
  -* | '') ;;
  *)
    bin=$1
    shift
    ;;
esac
mkdir -p build/ab_matrix
exec python3 scripts/ab_matrix.py "$bin" --json build/ab_matrix/ab_matrix.json --markdown build/ab_matrix/ab_matrix.md "$@"
