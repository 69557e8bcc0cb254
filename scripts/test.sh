#!/usr/bin/env bash
# Builds Headway and runs every test, also in a fresh clone: installs missing Debian packages and fetches what the build needs.
# Usage: scripts/test.sh [--preset dev|asan|tsan|no-cuda|no-qt] [ctest options]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=dev
if [ "${1:-}" = --preset ]; then
  preset=${2:?scripts/test.sh: --preset needs a name}
  shift 2
fi
scripts/install_packages.sh
# A full build is fastest if it compiles many files together. An existing build folder keeps its setting.
unity=()
[ -e "build/$preset/CMakeCache.txt" ] || unity=(-DHEADWAY_UNITY=ON)
cmake --preset "$preset" "${unity[@]}"
cmake --build --preset "$preset"
# At the end, print the output of the failed tests again, and rerun them one at a time. A test that passes only in the
# rerun needs mending too.
ctest --preset "$preset" -j "$(nproc)" "$@" || {
  echo "Failed tests:"
  awk '/^[0-9]+\/[0-9]+ Testing: / { section = "" } { section = section $0 "\n" } /^Test Failed\.$/ { printf "%s", section }' \
    "build/$preset/Testing/Temporary/LastTest.log" || true
  echo "Failed tests, rerun one at a time:"
  ctest --preset "$preset" --rerun-failed --output-on-failure -j1 || true
  exit 8
}
