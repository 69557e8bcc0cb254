#!/usr/bin/env bash
# Everything that only a GPU can confirm, in named stages. Builds nothing on the machine with the GPU: programs are packed on one
# without, and the folder is carried there.
# Usage: scripts/gpu_check.sh --pack FOLDER [--build build/dev]     collects the programs and what they load (here), also as FOLDER.tar.xz
#        FOLDER/gpu_check.sh [--only STAGE,…] [--out FOLDER]         runs the stages (there); results go to FOLDER/results
# Stages: kernels (every CUDA kernel against double precision), collector (what is recorded of CUDA, against known numbers), overhead
# (what a launch costs while recording), calibrate (figures of headway calibrate: there, plausible, the same twice), whatif (predicted
# steps against recorded ones), kernel-bench (time and memory rate of every CUDA kernel), trainer (headway-train on the GPU: its losses
# beside the host's, its throughput), ab-matrix (what each switch gains there), pytorch (beside PyTorch on the same models).
# Exit code: 0 all passed, 1 something failed, 77 no GPU.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pack='' build='build/dev' only='kernels,collector,trainer,overhead,calibrate,whatif,kernel-bench,ab-matrix,pytorch' out="$here/results"
while (($#)); do
  case $1 in
    --pack) pack=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    -h | --help) sed -n '2,11s/^# //p' "$0"; exit 0 ;;
    *) echo "gpu_check.sh: unknown option '$1' (known: --pack, --build, --only, --out)" >&2; exit 2 ;;
  esac
done

if [[ $pack ]]; then
  root=$(dirname "$here")
  cd "$root"
  linked=(headway headway-train headway_test_kernels_cuda headway_test_trainer_cuda headway_bench_kernels_cuda) # programs that load libraries of this machine
  for program in "${linked[@]}" libheadway_inject.so libheadway_io.so headway-pytorch gpu/cuda_program; do
    [[ -e $build/bin/$program ]] || { echo "gpu_check.sh: $build/bin/$program is missing: build first (cuda_program needs nvcc)" >&2; exit 2; }
  done
  mkdir -p "$pack/lib"
  cp -r "$build"/bin/{libheadway_inject.so,libheadway_io.so,headway-pytorch,gpu/cuda_program} "${linked[@]/#/$build/bin/}" tests/gpu/check_*.py scripts/gpu_check.sh scripts/ab_matrix.py tests/bench/{trainer_vs_pytorch,pytorch_models,pytorch_kernels}.py "$pack"
  strip --strip-debug "$pack"/libheadway_{inject,io}.so "${linked[@]/#/$pack/}"
  # The other machine has a C library and a C++ library, newer than these; the rest comes along.
  ldd "${linked[@]/#/$pack/}" | awk '$3 ~ /^\// {print $3}' | sort -u | grep -Ev '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s)\.so' |
    xargs -r cp -Lt "$pack/lib"
  for program in "${linked[@]}"; do patchelf --set-rpath '$ORIGIN/lib' "$pack/$program"; done
  for library in "$pack"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
  tar -C "$(dirname "$pack")" -c "$(basename "$pack")" | xz -T0 -6 > "$pack.tar.xz" # a third of the size, where what may be carried is limited
  echo "gpu_check.sh: packed $(du -sh "$pack" | cut -f1) into $pack and $(du -sh "$pack.tar.xz" | cut -f1) into $pack.tar.xz; there: tar xf it, $(basename "$pack")/gpu_check.sh"
  exit 0
fi

[[ -x $here/headway ]] || { echo "gpu_check.sh: no programs beside this script: make a pack first, see --help" >&2; exit 2; }
mkdir -p "$out"
status=0
for stage in ${only//,/ }; do
  check="$here/check_$stage.py"
  [[ -e $check ]] || { echo "gpu_check.sh: no stage '$stage' (known: kernels, collector, trainer, overhead, calibrate, whatif, kernel-bench, ab-matrix, pytorch)" >&2; exit 2; }
  echo "== $stage"
  code=0
  limit=300
  [[ $stage == ab-matrix || $stage == pytorch ]] && limit=590
  timeout --kill-after=10 $limit python3 "$check" "$here" "$out" 2>&1 | tee "$out/$stage.txt" || code=${PIPESTATUS[0]}
  ((code == 77)) && exit 77
  ((code == 0)) || status=1
done
exit $status
