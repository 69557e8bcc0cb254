#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the traces of this folder anew: make.sh [FOLDER]. The simulation repeats exactly.
set -euo pipefail
folder=${1:-.}
trace=$(mktemp -d)/launch_bound.sqlite
headway-train --device sim --eval off --preset launch-bound --steps 8 --quiet --trace "$trace"
headway export "$trace" --format chrome -o "$folder/launch_bound.json.gz" --force
rm -r "$(dirname "$trace")"
