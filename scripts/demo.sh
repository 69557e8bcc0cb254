#!/usr/bin/env bash
# Headway's whole job on a real training run, on a machine without a GPU: builds it, records a run with a planted
# bottleneck, reports what holds it back, applies the fix, measures the gain, and leaves traces, reports and timeline
# pictures in demo/. Usage: scripts/demo.sh [--steps N] [--output FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
steps=60
out=$root/demo
while [ $# -gt 0 ]; do
  case $1 in
    --steps) steps=${2:?--steps needs a number}; shift ;;
    --output) out=$(realpath -m "${2:?--output needs a folder}"); shift ;;
    *) echo "demo.sh: unknown option '$1' (known: --steps N, --output FOLDER)" >&2; exit 2 ;;
  esac
  shift
done
cd "$root"

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

say "Installing what is missing and building (the first time takes some minutes)"
scripts/install_packages.sh
# Compiling the trainer's kernels for a GPU takes an eighth of the time. Recording programs on GPUs needs none of them.
kernels=()
if [ ! -e /proc/driver/nvidia/version ] && [ ! -e build/release/CMakeCache.txt ]; then
  kernels=(-DHEADWAY_CUDA_ARCHITECTURES=)
  echo "No NVIDIA driver here: headway-train is built without its CUDA kernels (cmake --preset release -DHEADWAY_CUDA_ARCHITECTURES=80 adds them)."
fi
cmake --preset release "${kernels[@]}" >/dev/null
cmake --build --preset release --target headway headway-train headway-gui
PATH=$root/build/release/bin:$PATH
mkdir -p "$out"

# record NAME PRESET: one training run of the same model, batch and data, recorded and judged.
record() {
  headway run --force -o "$out/$1.sqlite" -- headway-train --model resnet --preset "$2" --steps "$steps" --eval off \
    --metrics "$out/$1.metrics.json"
}

say "1. A training run that is slower than it should be, and why: headway run -- headway-train --preset input-bound"
record input-bound input-bound

say "2. The advice followed (packed shards, more prefetch): headway run -- headway-train --preset healthy"
record healthy healthy

say "3. What it gained: headway diff"
headway diff "$out/input-bound.sqlite" "$out/healthy.sqlite"
images_per_second() { sed -n 's/.*"images_per_s": *\([0-9.]*\).*/\1/p' "$out/$1.metrics.json" | head -n 1; }
awk -v a="$(images_per_second input-bound)" -v b="$(images_per_second healthy)" \
  'BEGIN { printf "\nMeasured by the trainer itself: %.1f -> %.1f images/s, a speed-up of %.2fx\n", a, b, b / a }'

say "4. Pictures of the timeline"
for run in input-bound healthy; do
  for page in timeline findings; do
    headway-gui "$out/$run.sqlite" --screenshot "$out/$run-$page.png" --page "$page" --size 1600x900
  done
done
echo
ls -1 "$out"
echo
echo "Open $out/input-bound.html in a browser, or the timeline with: $root/build/release/bin/headway view '$out/input-bound.sqlite'"
