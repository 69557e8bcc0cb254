#!/usr/bin/env bash
# Writes the pages of docs/reference/ and docs/rules/ that come from declarations. With --check, only compares and fails on a difference.
# Usage: scripts/update_reference.sh [--check] [--build FOLDER]   (default folder: build/dev)
set -euo pipefail
cd "$(dirname "$0")/.."
check=false
build=build/dev
while [ $# -gt 0 ]; do
  case $1 in
    --check) check=true ;;
    --build) build=$2; shift ;;
    *) echo "update_reference.sh: unknown option '$1' (known: --check, --build FOLDER)" >&2; exit 2 ;;
  esac
  shift
done

fail=0
page() {  # page FILE COMMAND...
  local target=docs/reference/$1 made
  shift
  made=$("$@")
  if ! $check; then
    printf '%s\n' "$made" >"$target"
  elif [ "$made" != "$(cat "$target" 2>/dev/null)" ]; then
    echo "$target is out of date: run scripts/update_reference.sh"
    fail=1
  fi
}
for name in tables losses meta time-classes rules fixes budgets stats cli report-json; do
  page "$name.md" "$build/bin/headway" reference "$name"
done
page report.schema.json "$build/bin/headway" reference report-schema
page trainer.md "$build/bin/headway-train" --reference
# docs/rules/: one page per rule and how good each is, from the rules' sources and the planted cases.
mode=--write
$check && mode=--check
"$build/bin/headway_rule_quality" tests/planted/cases --sources analyzer/rules $mode docs/rules || fail=1
$check && [ $fail -eq 0 ] && echo "reference pages: in sync"
exit $fail
