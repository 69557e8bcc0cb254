#!/usr/bin/env bash
# The checks that take too long for every commit. Prints a table as docs/reliability.md keeps it; exit status 1 when a stage failed.
#   scripts/nightly.sh [--minutes N] [--list] [STAGE]...
# --minutes: how long each fuzz target, and each of the drills' inputs, cells and soak takes (30). Without stages: all of them.
set -uo pipefail
cd "$(dirname "$0")/.."
declare -A promise=(
  [tidy]="clang-tidy finds nothing in the whole tree"
  [asan]="every test under the address and undefined-behaviour sanitizers"
  [tsan]="every test under the thread sanitizer"
  [fuzz]="each fuzz target, from the inputs that once found something"
  [drills]="what docs/reliability.md promises"
)
order=(tidy asan tsan fuzz drills)
minutes=30 stages=()
while [ $# -gt 0 ]; do
  case $1 in
    --minutes) minutes=${2:?nightly.sh: --minutes needs a number}; shift ;;
    --list) for stage in "${order[@]}"; do printf '%-8s %s\n' "$stage" "${promise[$stage]}"; done; exit 0 ;;
    -*) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;;
    *) [ -n "${promise[$1]:-}" ] || { echo "nightly.sh: no stage is called '$1'; --list shows them" >&2; exit 2; }
       stages+=("$1") ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=("${order[@]}")
scripts/install_packages.sh --checks >/dev/null

# From nothing: files that are compiled together share their headers, which halves the time.
build() {
  local together=()
  [ -e "build/$1/CMakeCache.txt" ] || together=(-DHEADWAY_UNITY=ON)
  cmake --preset "$1" "${together[@]}" && cmake --build --preset "$1" -- -k 0
}
tidy() { build tidy; }
asan() { build asan && ctest --preset asan -j "$(nproc)" --output-on-failure; }
tsan() { build tsan && ctest --preset tsan -j "$(nproc)" --output-on-failure; }
fuzz() {
  build fuzz || return 1
  local program name failed=0 found
  for program in build/fuzz/bin/headway_fuzz_*; do
    name=${program##*headway_fuzz_}
    case $name in seeds_*) continue ;; esac
    found=build/fuzz/found/$name
    mkdir -p "$found"
    "$program" -max_len=16384 -rss_limit_mb=2048 -timeout=20 -max_total_time=$((minutes * 60)) -artifact_prefix="$found/" \
      "$found" "tests/data/fuzz/$name" || { echo "fuzz: $name failed; its input is in $found"; failed=1; }
  done
  return $failed
}
drills() { build dev && scripts/drills.sh --minutes "$minutes"; }

failed=0
mkdir -p build/nightly
for stage in "${stages[@]}"; do
  begin=$SECONDS result=ok
  "$stage" >"build/nightly/$stage.log" 2>&1 || result=FAILED failed=1
  echo "| $(date +%F) | \`nightly.sh $stage\` | ${promise[$stage]}: $result, $(((SECONDS - begin + 59) / 60)) minutes |"
  [ $result = ok ] || tail -n 40 "build/nightly/$stage.log" >&2
done
exit $failed
