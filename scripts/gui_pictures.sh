#!/usr/bin/env bash
# Pictures of every page of headway-gui for docs/gui and docs/user-guide/three-clicks.md: of a recorded input-bound run (compared
# with a healthy one), of a simulated job of four ranks, and of the real recordings that are there. Look at each before you commit it.
# Usage: scripts/gui_pictures.sh [--build FOLDER] [--traces FOLDER] [--run FILE --healthy FILE --waiting FILE] [--output FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/dev/bin
traces=${HEADWAY_TRACES:-$root/../shared/traces}
out=$root/docs/gui
run=
healthy=
waiting=
while [ $# -gt 0 ]; do
  case $1 in
    --build) bin=$(realpath "${2:?--build needs a folder}")/bin; shift ;;
    --traces) traces=${2:?--traces needs a folder}; shift ;;
    --run) run=${2:?--run needs a file}; shift ;;
    --healthy) healthy=${2:?--healthy needs a file}; shift ;;
    --waiting) waiting=${2:?--waiting needs a file}; shift ;;
    --output) out=$(realpath -m "${2:?--output needs a folder}"); shift ;;
    *) echo "gui_pictures.sh: unknown option '$1' (known: --build, --traces, --run, --healthy, --waiting, --output)" >&2; exit 2 ;;
  esac
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record NAME PRESET: one recorded training run of the same model, batch and data.
record() {
  "$bin/headway" record --force -o "$work/$1.sqlite" -- "$bin/headway-train" --model resnet --preset "$2" --steps 40 \
    --eval off >"$work/$1.log" 2>&1 || { cat "$work/$1.log" >&2; exit 1; }
}
if [ -z "$run" ]; then record input-bound input-bound; run=$work/input-bound.sqlite; fi
if [ -z "$healthy" ]; then record healthy healthy; healthy=$work/healthy.sqlite; fi

if [ -z "$waiting" ]; then record waiting host-sync; waiting=$work/waiting.sqlite; fi

# shrink FILE: 64 colours are enough for these pages and a third of the size; without pngquant it stays as it is.
shrink() {
  if command -v pngquant >/dev/null; then pngquant --force --nofs --output "$1" 64 -- "$1"; fi
}

# picture FILE ARGUMENTS...: one picture, of $size; tells when it is too large for the repository.
picture() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")"
  "$bin/headway-gui" "$@" --size "${size:-1280x800}" --screenshot "$file"
  shrink "$file"
  if [ "$(stat -c %s "$file")" -gt 102400 ]; then
    echo "gui_pictures.sh: $file has more than 100 KiB; is pngquant installed?" >&2
  fi
}

# The pages as the program itself lists them, so that new ones have their picture.
pages=$("$bin/headway-gui" --page '?' 2>&1 | sed -n 's/.*expected one of \(.*\)\.$/\1/p' | tr -d , || true)
[ -n "$pages" ] || { echo "gui_pictures.sh: $bin/headway-gui does not list its pages" >&2; exit 1; }

# all_pages NAME TRACE [SECOND]: every page of a trace; the comparison with a second one where there is one.
all_pages() {
  local page
  for page in $pages; do
    if [ "$page" = compare ]; then
      if [ -n "${3:-}" ]; then picture "$out/$1/compare.png" "$2" --compare "$3" --page compare; fi
    else
      picture "$out/$1/$page.png" "$2" --page "$page"
    fi
  done
}

all_pages input-bound "$run" "$healthy"
picture "$out/input-bound/timeline-dark.png" "$run" --page timeline --theme dark
# What the second click of three-clicks.md leads to.
picture "$out/input-bound/cause.png" "$run" --finding input-bound --page timeline
# A step as it would be without the waits for the device.
picture "$out/waiting/predicted.png" "$waiting" --finding host-sync --predicted
# Two fixes ticked together, of a simulated GPU: on a small screen, dark on a large one, and at scale 2.
"$bin/headway-train" --device sim --model resnet --preset host-sync --steps 30 --trace "$work/simulated.sqlite" \
  >"$work/simulated.log" 2>&1 || { cat "$work/simulated.log" >&2; exit 1; }
what_if=("$work/simulated.sqlite" --fix remove-syncs --fix half-precision)
picture "$out/waiting/what-if.png" "${what_if[@]}"
size=1024x700 picture "$out/waiting/what-if-1024.png" "${what_if[@]}"
size=1920x1080 picture "$out/waiting/what-if-dark.png" "${what_if[@]}" --theme dark
size=1024x700 QT_SCALE_FACTOR=2 picture "$out/waiting/what-if-scale-2.png" "${what_if[@]}"
# Hits of a search with their durations; a time range row by row.
picture "$out/input-bound/hits.png" "$run" --find conv --list hits
picture "$out/input-bound/range.png" "$run" --range 1.0s..1.2s --list rows
size=1024x700 picture "$out/input-bound/hits-1024.png" "$run" --find conv --list hits
size=1024x700 picture "$out/input-bound/range-1024.png" "$run" --range 1.0s..1.2s --list rows --theme dark
# What the host did in three steps, with the stack of Python; where an op of it comes from.
stacks=kineto/mi300_resnet_ddp.json.gz
if [ -f "$traces/$stacks" ]; then
  cp "$traces/$stacks" "$work/"
  stacks=$work/$(basename "$stacks")
  picture "$out/stacks/stacks.png" "$stacks" --range 2ms..40ms --list stacks
  size=1024x700 picture "$out/stacks/stacks-dark-1024.png" "$stacks" --find aten::conv2d --list stacks --theme dark
fi
# A job of four simulated ranks, one of which is late.
"$bin/headway-train" --device sim --model resnet --preset straggler --steps 30 --ranks 4 --trace "$work/rank%r.sqlite" \
  >"$work/job.log" 2>&1 || { cat "$work/job.log" >&2; exit 1; }
for page in summary ranks findings; do picture "$out/job/$page.png" "$work"/rank[0-3].sqlite --page "$page"; done
# On a real X server under a window manager, where there is one: what the pages look like with a frame, at scale 2, and what
# needs real keys. window NAME SIZE SCALE THEME KEYS...: opens the simulated run on a screen of that size and presses the keys.
window() {
  local name=$1 screen=$2 scale=$3 theme=$4
  shift 4
  mkdir -p "$out/window"
  env QT_SCALE_FACTOR="$scale" QT_QPA_PLATFORM=xcb XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" \
    xvfb-run -a -s "-screen 0 ${screen}x24" bash -c '
      openbox & manager=$!
      sleep 1
      "$1" "$2" --theme "$3" & gui=$!
      for try in $(seq 100); do
        id=$(xdotool search --onlyvisible --pid "$gui" 2>/dev/null | tail -1) && [ -n "$id" ] && break
        sleep 0.3
      done
      sleep 4
      xdotool windowmove "$id" 0 0 windowsize "$id" 100% 100%
      sleep 2
      picture=$4
      shift 4
      for keys in "$@"; do xdotool key $keys; sleep 3; done
      import -window root "$picture"
      kill "$gui" "$manager"
    ' window "$bin/headway-gui" "$work/simulated.sqlite" "$theme" "$out/window/$name.png" "$@" >/dev/null 2>&1 || true
  shrink "$out/window/$name.png"
}
if command -v xvfb-run >/dev/null && command -v openbox >/dev/null && command -v xdotool >/dev/null && command -v import >/dev/null; then
  window timeline-1920-dark 1920x1080 1 dark ctrl+2 x
  window help-1024 1024x700 1 light ctrl+2 question
  window stacks-scale-2 2048x1400 2 light ctrl+2 "ctrl+g" "s t e p space 7 Return" k
else
  echo "gui_pictures.sh: xvfb, openbox, xdotool and imagemagick are needed for the pictures under a window manager" >&2
fi
# From a copy: a page may show where its trace lies, and that is nobody's business.
for trace in nsys/h100_2gpu_1s.sqlite kineto/a100_control.json.gz; do
  [ -f "$traces/$trace" ] || continue
  cp "$traces/$trace" "$work/"
  name=$(basename "$trace")
  all_pages "${name%%.*}" "$work/$name"
done
find "$out" -name '*.png' -printf '%s %p\n' | sort -k2
