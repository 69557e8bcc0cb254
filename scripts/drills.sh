#!/usr/bin/env bash
# What docs/reliability.md promises, tried: one drill per line of its table. Prints a table; exit status 1 when one failed.
#   scripts/drills.sh [--short] [--only NAME] [--list] [--minutes N] [--build FOLDER]
# --short: what the tests do not run anyway, in about three minutes (CI). --minutes: how long each of inputs, cells and soak takes.
set -uo pipefail
cd "$(dirname "$0")/.."
short=0 only="" list=0 minutes=5 build=build/dev
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=1 minutes=1 ;;
    --only) only=$2; shift ;;
    --minutes) minutes=$2; shift ;;
    --build) build=$2; shift ;;
    --list) list=1 ;;
    *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
if [ $list = 0 ] && ! diff <(sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' docs/reliability.md) <("$0" --list) >&2; then
  echo "drills.sh: docs/reliability.md has other drills than this script" >&2
  exit 1
fi
bin=$build/bin
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
failed=0
ran=0

# drill NAME PROMISE COMMAND...: without --short, where the name ends with "!" also with it
drill() {
  local name=${1%!} promise=$2 always=0 begin=$SECONDS result=ok
  [ "$1" = "$name" ] || always=1
  shift 2
  if [ $list = 1 ]; then echo "$name"; return; fi
  if [ -n "$only" ]; then [ "$only" = "$name" ] || return 0; elif [ $short = 1 ] && [ $always = 0 ]; then return 0; fi
  ran=$((ran + 1))
  if ! "$@" >"$log/$name" 2>&1; then result=FAILED failed=1; fi
  [ $result = ok ] && grep -q '\[skipped\]' "$log/$name" && result=skipped
  printf '%-18s %-8s %5d s  %s\n' "$name" "$result" $((SECONDS - begin)) "$promise"
  [ $result = FAILED ] && tail -n 40 "$log/$name" | cut -c1-2000
  return 0
}

# tests PROGRAM CASE...: these test cases; each pattern must fit some
tests() {
  local program=$bin/headway_test_$1 filter case
  shift
  filter=$(IFS=,; echo "$*")
  for case in "$@"; do
    "$program" --count --test-case="$case" | grep -q 'filters: [1-9]' || { echo "no such test case: $case"; return 1; }
  done
  "$program" --test-case="$filter"
}

inputs() { nice scripts/drills/inputs.py --headway "$bin/headway" --train "$bin/headway-train" --seconds $((minutes * 60)) --seed "$(git rev-parse HEAD)" "$@"; }

drill endings "however a program ends, what it had recorded is in the trace" \
  tests collector 'a program that *loses nothing*' 'SIGTERM to the recorder*' 'Ctrl-C in a terminal*'
drill recorder-killed "a killed recorder leaves the program running and a trace that says it was cut" \
  tests collector 'when the recorder is killed*' 'a recorder that is killed at any moment*' 'a recording that still runs*'
drill disk "a full disk stops the writing, not the program, and is counted" \
  tests collector 'on a full disk*' 'a full disk stops*' 'a limit on the size of files*'
drill descriptors "with 12, 16 or 24 descriptors the program is unharmed and the truth told" \
  tests collector 'a recorder with few descriptors*' 'a program that closes all descriptors*' 'closed standard streams*'
drill memory "without memory or address space the program runs on, unrecorded and named" \
  tests collector 'refused shared memory*' 'where shared memory is refused*' 'a program under RLIMIT_AS*' 'a child with less room*'
drill limits! "the recorder in 20 MB of memory, 5 % of a processor, 64 kB of disk leaves the program alone" \
  scripts/drills/limits.py "$bin/headway" "$bin/targets/steps"
drill storms "a storm of events loses only what is counted, and never the nesting" \
  tests collector 'a ring that overflows*' 'more threads than rings*' 'three hundred threads*'
drill hostile "a program that damages its shared memory harms neither recorder nor trace" \
  tests collector 'memory that the program damages*' 'memory scribbled over*' 'damage of each kind*' 'heads and ends beyond*'
drill handlers "events in signal handlers are recorded or counted, errno stays" \
  tests collector 'events of a signal handler*' 'events on a small alternate stack*' 'recording leaves errno alone'
drill trees "forks, execs, daemons and cleared environments are recorded or named" \
  tests collector 'a forked child*' 'exec starts*' 'two hundred processes*' 'a process without the environment*' '--wait all stays*'
drill files "only regular files are replaced, and only once the program runs" \
  tests collector '--force *' 'an existing file is kept*'
drill secrets "passwords and tokens on command lines are not stored; reports are private" \
  tests collector 'passwords and tokens*' 'a report is as private*' 'secrets of the environment*'
drill privilege! "nobody else on the machine gets at a recording" \
  scripts/drills/privilege.py "$bin/headway" "$bin/targets/threads"
drill cells! "whatever the cells of a trace hold, every command ends in order" inputs --kind cells
drill inputs! "whatever the bytes of an input are, every command ends in order" inputs --kind bytes
drill soak! "at 200,000 records a second nothing is lost and memory stays flat" \
  scripts/drills/soak.py "$bin/headway" "$bin/headway_bench_soak" --seconds $((minutes * 60 / 2))
[ $list = 1 ] && exit 0
[ $ran -gt 0 ] || { echo "drills.sh: no drill is called '$only'; --list shows them" >&2; exit 2; }
exit $failed
