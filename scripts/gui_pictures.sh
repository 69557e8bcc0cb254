#!/usr/bin/env bash
# Pictures of every page of headway-gui for docs/gui and docs/user-guide/three-clicks.md: of a recorded input-bound run (compared
# with a healthy one), of a simulated job of four ranks, and of the real recordings that are there. Look at each before you commit it.
# Usage: scripts/gui_pictures.sh [--build FOLDER] [--traces FOLDER] [--run FILE --healthy FILE --waiting FILE] [--output FOLDER]
#                                [--only WORD]     only pictures with this word in their path
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/dev/bin
traces=${HEADWAY_TRACES:-$root/../shared/traces}
out=$root/docs/gui
run=
healthy=
waiting=
only=
while [ $# -gt 0 ]; do
  case $1 in
    --build) bin=$(realpath "${2:?--build needs a folder}")/bin; shift ;;
    --traces) traces=${2:?--traces needs a folder}; shift ;;
    --run) run=${2:?--run needs a file}; shift ;;
    --healthy) healthy=${2:?--healthy needs a file}; shift ;;
    --waiting) waiting=${2:?--waiting needs a file}; shift ;;
    --output) out=$(realpath -m "${2:?--output needs a folder}"); shift ;;
    --only) only=${2:?--only needs a word}; shift ;;
    *) echo "gui_pictures.sh: unknown option '$1' (known: --build, --traces, --run, --healthy, --waiting, --output, --only)" >&2; exit 2 ;;
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
  [[ $file == *"$only"* ]] || return 0
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
# Two fixes ticked together, of a simulated GPU.
"$bin/headway-train" --device sim --model resnet --preset host-sync --steps 30 --trace "$work/simulated.sqlite" \
  >"$work/simulated.log" 2>&1 || { cat "$work/simulated.log" >&2; exit 1; }
what_if=("$work/simulated.sqlite" --fix remove-syncs --fix half-precision)
picture "$out/waiting/what-if.png" "${what_if[@]}"
# Hits of a search with their durations; a time range row by row.
picture "$out/input-bound/hits.png" "$run" --find conv --list hits
picture "$out/input-bound/range.png" "$run" --range 1.0s..1.2s --list rows
# What the host did in three steps, with the stack of Python; where an op of it comes from.
stacks=kineto/mi300_resnet_ddp.json.gz
if [ -f "$traces/$stacks" ]; then
  cp "$traces/$stacks" "$work/"
  stacks=$work/$(basename "$stacks")
  picture "$out/stacks/stacks.png" "$stacks" --range 2ms..40ms --list stacks
fi
# A job of four simulated ranks, one of which is late.
"$bin/headway-train" --device sim --model resnet --preset straggler --steps 30 --ranks 4 --trace "$work/rank%r.sqlite" \
  >"$work/job.log" 2>&1 || { cat "$work/job.log" >&2; exit 1; }
for page in summary ranks findings; do picture "$out/job/$page.png" "$work"/rank[0-3].sqlite --page "$page"; done
# On a real X server under a window manager, where there is one, driven by real keys and a real mouse. window NAME SCREEN SCALE THEME
# ACTIONS...: opens $shown on a screen of that size. An action is keys as xdotool names them, "drag X Y X Y", "click X Y", "twice X Y",
# "type TEXT" or "remove FILE"; X and Y count from the window's corner as at scale 1.
shown=("$work/simulated.sqlite")
window() {
  local name=$1 screen=$2 scale=$3 theme=$4
  shift 4
  [[ $out/window/$name.png == *"$only"* ]] || return 0
  mkdir -p "$out/window"
  env QT_SCALE_FACTOR="$scale" QT_QPA_PLATFORM=xcb XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data" \
    xvfb-run -a -s "-screen 0 ${screen}x24" bash -c '
      act() {
        case $1 in
          click | twice | drag) local at=("$@") i
            for i in 1 2 3 4; do at[i]=$((${at[i]:-0} * QT_SCALE_FACTOR)); done ;;
        esac
        case $1 in
          click) xdotool mousemove "${at[1]}" "${at[2]}" click 1 ;;
          twice) xdotool mousemove "${at[1]}" "${at[2]}" click --repeat 2 --delay 80 1 ;;
          drag) xdotool mousemove "${at[1]}" "${at[2]}" mousedown 1 sleep 0.2 \
                  mousemove $(((at[1] + at[3]) / 2)) $(((at[2] + at[4]) / 2)) sleep 0.2 \
                  mousemove "${at[3]}" "${at[4]}" sleep 0.2 mouseup 1 ;;
          type) shift; xdotool type --delay 40 "$*" ;;
          remove) rm "$2" ;;
          *) xdotool key "$@" ;;
        esac
      }
      gui=$1 count=$2 theme=$3 picture=$4 width=$5 height=$6
      shift 6
      openbox & manager=$!
      sleep 1
      "$gui" "${@:1:$count}" --theme "$theme" & gui=$!
      shift "$count"
      for try in $(seq 100); do
        id=$(xdotool search --onlyvisible --pid "$gui" 2>/dev/null | tail -1) && [ -n "$id" ] && break
        sleep 0.3
      done
      sleep 5
      # As high as the screen, less what the window manager puts around it.
      xdotool windowmove "$id" 0 0 windowsize "$id" "$width" $((height - 22))
      sleep 2
      for action in "$@"; do act $action; sleep 2; done
      import -window root -crop "${width}x$((height - 22))+0+0" +repage "$picture"
      kill "$gui" "$manager"
    ' window "$bin/headway-gui" "${#shown[@]}" "$theme" "$out/window/$name.png" "${screen%x*}" "${screen#*x}" "${shown[@]}" "$@" \
    >/dev/null 2>&1 || true
  shrink "$out/window/$name.png"
}
# point NAME ACTIONS...: the same on a large screen, a small one, one of twice the density, and dark.
point() {
  window "$1-1920" 1920x1080 1 light "${@:2}"
  window "$1-1024" 1024x700 1 light "${@:2}"
  window "$1-scale-2" 2048x1400 2 light "${@:2}"
  window "$1-dark" 1024x700 1 dark "${@:2}"
}
if command -v xvfb-run >/dev/null && command -v openbox >/dev/null && command -v xdotool >/dev/null && command -v import >/dev/null; then
  point timeline ctrl+2 c
  point menu ctrl+2 alt+t
  point range ctrl+2 "drag 420 139 600 139"
  point sql-error ctrl+t "click 735 120" "type SELECT nme FROM StringIds" ctrl+Return
  window help-1024 1024x700 1 light ctrl+2 question
  window predicted-1920-dark 1920x1080 1 dark ctrl+2 x
  window stacks-1024 1024x700 1 light ctrl+2 "ctrl+g" "s t e p space 7 Return" k
  window preview-1024-dark 1024x700 1 dark ctrl+t "twice 250 318"
  shown=("${what_if[@]}")
  point what-if
  cp "$work/simulated.sqlite" "$work/deleted.sqlite"
  shown=("$work/deleted.sqlite")
  window deleted-1024 1024x700 1 light ctrl+t "remove $work/deleted.sqlite" "click 735 120" "type SELECT count(*) FROM StringIds" ctrl+Return
  shown=("$work/simulated.sqlite" --compare "$work/waiting-less.sqlite")
  "$bin/headway-train" --device sim --model resnet --preset host-sync --sync never --steps 30 --trace "$work/waiting-less.sqlite" >"$work/less.log" 2>&1
  point compare ctrl+d
  # Eight ranks, folded, compare at a glance; a note lies beside the rank whose row is clicked.
  mkdir -p "$work/eight"
  "$bin/headway-train" --device sim --model resnet --preset straggler --steps 12 --ranks 8 --trace "$work/eight/rank%r.sqlite" >"$work/eight.log" 2>&1
  shown=("$work/eight")
  point job ctrl+7
  point folded ctrl+2 shift+Return
  window notes-1920 1920x1080 1 light ctrl+2 shift+Return "drag 420 139 600 139" b F2 "type all but rank 2 wait here" Return
  # A recording while it is made, as often as it is looked at.
  "$bin/headway" record --force -o "$work/live.sqlite" -- "$bin/headway-train" --model resnet --preset input-bound --steps 400 --eval off \
    >"$work/live.log" 2>&1 & recorder=$!
  sleep 2
  shown=("$work/live.sqlite" --follow)
  point live ctrl+2
  kill -INT "$recorder" && wait "$recorder" || true
else
  echo "gui_pictures.sh: xvfb, openbox, xdotool and imagemagick are needed for the pictures under a window manager" >&2
fi
# What the terminal and the pages to pass on look like, in a browser where there is one.
if command -v chromium >/dev/null; then
  mkdir -p "$out/pages"
  python3 "$root/scripts/terminal_picture.py" "$out/pages/terminal.png" 112 "$bin/headway" report "$work/simulated.sqlite"
  python3 "$root/tests/end_to_end/pages_test.py" "$bin" "$work"
  for name in job-1440 job-390 job-800-dark job-print diff-1440 diff-390-dark; do
    convert "$work/$name.png" -crop "x1600+0+0" +repage "$out/pages/$name.png"
    shrink "$out/pages/$name.png"
  done
fi
# From a copy: a page may show where its trace lies, and that is nobody's business.
for trace in nsys/h100_2gpu_1s.sqlite kineto/a100_control.json.gz; do
  [ -f "$traces/$trace" ] || continue
  cp "$traces/$trace" "$work/"
  name=$(basename "$trace")
  all_pages "${name%%.*}" "$work/$name"
done
find "$out" -name '*.png' -printf '%s %p\n' | sort -k2
