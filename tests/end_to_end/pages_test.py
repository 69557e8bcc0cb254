#!/usr/bin/env python3
"""The pages that Headway writes, in a browser: pages_test.py BIN_FOLDER [PICTURES_FOLDER]. Exit status 0: passed.
With a folder it leaves a picture of each page at each size there."""
import pathlib
import re
import subprocess
import sys
import tempfile

import browser

BIN = pathlib.Path(sys.argv[1]).resolve()
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
RANKS = 64
MOST_BYTES = 2_000_000

# Contrast as WCAG defines it, of each text against the ground that it stands on; what is lower than 4.5 to 1.
LOW_CONTRAST = """(() => {
  const rgb = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = element => { for (; element; element = element.parentElement) {
      const c = rgb(getComputedStyle(element).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest('svg, script, style') || !element.getClientRects().length) continue;
    const a = light(rgb(getComputedStyle(element).color)), b = light(ground(element));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(node.data.trim().slice(0, 40) + ': ' + contrast.toFixed(2));
  }
  return [...found];
})()"""


def run(*command, cwd):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=200, cwd=cwd)
    assert result.returncode == 0, f"{command}: exit {result.returncode}\n{result.stdout}\n{result.stderr}"


def make_pages(folder):
    """A job of many ranks, one rank alone, a simulated run whose fixes are predicted, and two recordings compared."""
    run(BIN / "headway_make_job", "job", RANKS, 12000, 5, cwd=folder)
    run(BIN / "headway", "report", "job", "-o", "job.html", cwd=folder)
    run(BIN / "headway", "report", "job/rank0.sqlite", "-o", "alone.html", cwd=folder)
    run(BIN / "headway", "diff", "job/rank0.sqlite", "job/rank5.sqlite", "-o", "diff.html", cwd=folder)
    run(BIN / "headway-train", "--device", "sim", "--model", "resnet", "--preset", "host-sync", "--steps", "30", "--trace", "sim.sqlite", cwd=folder)
    run(BIN / "headway", "report", "sim.sqlite", "-o", "fixes.html", cwd=folder)
    return [folder / f"{name}.html" for name in ("job", "alone", "fixes", "diff")]


def check(page, view):
    for width in (1440, 800, 390):
        for dark in (False, True):
            view.open(page, width, dark=dark)
            name = f"{page.stem}-{width}{'-dark' if dark else ''}"
            if PICTURES:
                view.picture(PICTURES / f"{name}.png", whole=True)
            away = [address for address in view.requests if not address.startswith(page.resolve().as_uri())]
            assert not away, f"{name} asks for {away}"
            assert not view.errors, f"{name}: {view.errors}"
            wide = view.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide"
            thin = view.evaluate("[...document.querySelectorAll('.gains .bar')].map(b => b.clientWidth).filter(w => w < 100)")
            assert not thin, f"{name}: bars of predicted steps are {thin} pixels wide"
            low = view.evaluate(LOW_CONTRAST)
            assert not low, f"{name}: text with little contrast: {low}"
    view.open(page, 800, media="print")
    if PICTURES:
        view.picture(PICTURES / f"{page.stem}-print.png", whole=True)
        (PICTURES / f"{page.stem}.pdf").write_bytes(view.pdf())
    pages = len(re.findall(rb"/Type\s*/Page\b", view.pdf()))
    assert 1 <= pages < 60, f"{page.stem} prints on {pages} pages"
    # A heading at the foot of a page would stand alone.
    loose = view.evaluate("[...document.querySelectorAll('h2, h3, h2 + p')].filter(h => getComputedStyle(h).breakAfter != 'avoid')"
                          ".map(h => h.textContent)")
    assert not loose, f"{page.stem}: headings may be stranded: {loose}"


def main():
    program = browser.find()
    if not program:
        print("[skipped] no Chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        pages = make_pages(pathlib.Path(folder))
        size = pages[0].stat().st_size
        assert size <= MOST_BYTES, f"the page of {RANKS} ranks has {size} bytes"
        print(f"page of {RANKS} ranks: {size} bytes")
        view = browser.Browser(program)
        try:
            for page in pages:
                check(page, view)
        finally:
            view.close()


if __name__ == "__main__":
    main()
