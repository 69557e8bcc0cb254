#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A simulated job of four ranks with one slow rank, one trace per rank, and the report of all: job.sh [FOLDER]
set -euo pipefail
folder=${1:-job}
mkdir -p "$folder"
headway-train --device sim --eval off --preset straggler --ranks 4 --steps 16 --quiet --trace "$folder/rank%r.sqlite"
headway report "$folder"
