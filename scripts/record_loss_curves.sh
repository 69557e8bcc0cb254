#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the loss curves that tests/reference_trainer compares with: losses of short runs on generated data, means of 20
# steps each, one thread. Only for a change that is meant to change them. Usage: scripts/record_loss_curves.sh [BIN_FOLDER]
set -eu
cd "$(dirname "$0")/.."
bin=${1:-build/dev/bin}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

record() {
  name=$1
  steps=$2
  shift 2
  "$bin/headway-train" "$@" --data generated --threads 1 --steps "$steps" --eval off --quiet --metrics "$folder/metrics.json"
  python3 -c 'import json, sys
losses = [step["loss"] for step in json.load(open(sys.argv[1]))["steps"]]
for i in range(0, len(losses), 20):
    print("%.4f" % (sum(losses[i:i + 20]) / 20))' "$folder/metrics.json" > "tests/reference_trainer/recorded/$name.txt"
}

record transformer 120 --model transformer --layers 2 --heads 2 --features 32 --sequence 32 --batch 8
record resnet 80 --depth 8 --width 8 --batch 16 --samples 2000 --source memory
record gnmt 120 --model gnmt --layers 2 --features 32 --sequence 24 --batch 16 --dropout 0
record ssd 120 --model ssd --depth 8 --width 8 --batch 16 --samples 1000 --cache-dir "$folder"
record ssd_simota 120 --model ssd --depth 8 --width 8 --batch 16 --samples 1000 --cache-dir "$folder" --matching simota --assign batched
