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
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" "$@"
