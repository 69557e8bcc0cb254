#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the loss curves that tests/reference_trainer compares with: every 20th loss of short runs on generated data, one
# thread. Only for a change that is meant to change them. Usage: scripts/record_loss_curves.sh [BIN_FOLDER]
set -eu
cd "$(dirname "$0")/.."
bin=${1:-build/dev/bin}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

record() {
  name=$1
  shift
  "$bin/headway-train" "$@" --data generated --threads 1 --steps 120 --eval off --quiet --metrics "$folder/metrics.json"
  python3 -c 'import json, sys
for step in json.load(open(sys.argv[1]))["steps"][::20]:
    print("%.4f" % step["loss"])' "$folder/metrics.json" > "tests/reference_trainer/recorded/$name.txt"
}

record transformer --model transformer --layers 2 --heads 2 --features 32 --sequence 32 --batch 8
record resnet --depth 8 --width 8 --batch 16 --samples 2000 --source memory
record gnmt --model gnmt --layers 2 --features 32 --sequence 24 --batch 16 --dropout 0
record ssd --model ssd --depth 8 --width 8 --batch 16 --samples 1000 --cache-dir "$folder"
