#!/usr/bin/env bash
# Builds Headway and runs every test, from nothing: installs missing Debian packages, fetches what the build needs.
# Usage: scripts/test.sh [--preset dev|asan|tsan|no-cuda|no-qt] [ctest options]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=dev
if [ "${1:-}" = --preset ]; then
  preset=${2:?scripts/test.sh: --preset needs a name}
  shift 2
fi
scripts/install_packages.sh
# From nothing it is cheapest to compile many files together; a build folder that is there stays as it is.
together=()
[ -e "build/$preset/CMakeCache.txt" ] || together=(-DHEADWAY_UNITY=ON)
cmake --preset "$preset" "${together[@]}"
cmake --build --preset "$preset"
# What failed is said once more at the end of a long list, as it failed and run by itself: a test that then passes needs
# mending too.
ctest --preset "$preset" -j "$(nproc)" "$@" || {
  echo "What failed:"
  awk '/^[0-9]+\/[0-9]+ Testing: / { section = "" } { section = section $0 "\n" } /^Test Failed\.$/ { printf "%s", section }' \
    "build/$preset/Testing/Temporary/LastTest.log" || true
  echo "What failed, once more by itself:"
  ctest --preset "$preset" --rerun-failed --output-on-failure -j1 || true
  exit 8
}
