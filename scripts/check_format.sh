#!/usr/bin/env bash
# Every C++ file as .clang-format wants it. `--fix` rewrites.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files -z '*.h' '*.cc' '*.cu' '*.cuh' | xargs -0 -r clang-format "${mode[@]}"
echo "format: $(git ls-files '*.h' '*.cc' '*.cu' '*.cuh' | wc -l) files"
