// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway::analyzer {

/// The style of the HTML report. Contrast is at least 4.5:1 in light and dark; nothing is told by
/// colour alone; on paper it is always light, and everything folded is open.
inline constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d6dc; --paper: #ffffff; --panel: #f5f7f9; --accent: #0b5cad; --idle: #e7ebef; --edge: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #a3adb8; --line: #414a54; --paper: #16191d; --panel: #1f2429; --accent: #7ab8ff; --idle: #2c333a; --edge: #6a7682; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 32px 64px; max-width: 1080px; font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 15px; font-weight: 600; color: var(--soft); margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 36px 0 10px; }
p { margin: 6px 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 8px; top: 8px; padding: 6px 12px; background: var(--paper); }
.away { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin: 14px 0 0; padding: 0; font-size: 13px; }
.verdict { font-size: 21px; line-height: 1.4; margin: 12px 0 16px; }
.note, dt, .meta { color: var(--soft); }
.note { font-size: 13px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
.fig { overflow-x: auto; }
.fig > svg { display: block; width: 100%; min-width: 800px; height: auto; margin: 8px 0; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
svg rect { stroke: var(--edge); stroke-width: 0.5; }
svg .axis { fill: var(--soft); } svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .grid { stroke: var(--line); } svg .tick { stroke: var(--soft); } svg .idle { fill: var(--idle); }
svg .roof { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 6 4; }
svg .point { fill: #2fa37c; fill-opacity: 0.75; stroke: var(--ink); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 6px 0; list-style: none; font-size: 13px; }
.swatch { width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
caption { text-align: left; color: var(--soft); padding: 0 0 4px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
.scroll td:not(.n) { min-width: 80px; overflow-wrap: anywhere; } .scroll td:first-child:not(.n) { min-width: 190px; } .scroll td.word { overflow-wrap: normal; white-space: nowrap; }
.scroll th.n { white-space: normal; }
tr.marked td { font-weight: 600; background: var(--panel); } tr.marked td:first-child { box-shadow: inset 4px 0 #b03a00; }
.card.culprit { border-left-color: #b03a00; } .culprit p { margin: 2px 0 0; } svg rect.culprit { fill: none; stroke: var(--accent); stroke-width: 2; } svg text.culprit { fill: var(--ink); font-weight: 600; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.fall { margin: 8px 0 4px; } .fall th, .fall td { border: 0; padding: 2px 12px 2px 0; vertical-align: middle; } .fall th { font-weight: 400; white-space: nowrap; }
.fall .bar { width: 60%; padding-right: 12px; } .fall .bar svg { display: block; width: 100%; height: 15px; background: var(--panel); }
.fall tr:last-child th, .fall tr:last-child td { border-top: 1px solid var(--line); font-weight: 600; } .fall tr:last-child rect { fill: var(--soft); }
.gains { width: 100%; max-width: 760px; margin: 8px 0 10px; } .gains th, .gains td { border: 0; padding: 2px 12px 2px 0; vertical-align: middle; font-weight: 400; white-space: nowrap; color: var(--ink); } .gains .bar { width: 70%; } .gains .n { text-align: left; } .gains .bar svg { display: block; width: 100%; height: 16px; overflow: visible; }
.gains .was { fill: var(--soft); } .gains .then { fill: var(--accent); } .gains line { stroke: var(--ink); stroke-width: 2; } .gains .halo { stroke: var(--panel); stroke-width: 5; }
.card { background: var(--panel); border: 1px solid var(--line); border-left: 5px solid var(--accent); border-radius: 6px; padding: 12px 18px; margin: 12px 0; overflow-wrap: anywhere; }
.card h3 { margin: 0 0 4px; font-size: 16px; }
.beside { display: grid; grid-template-columns: max-content 1fr; gap: 4px 12px; align-items: center; margin: 8px 0; font-size: 13px; }
.beside svg { display: block; width: 100%; height: 34px; background: var(--idle); touch-action: pan-y; } .beside path { stroke: none; } .beside .meta { display: block; } .beside .ends { display: flex; justify-content: space-between; color: var(--soft); }
.beside.live svg { cursor: grab; } input.find { font: inherit; font-size: 13px; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 4px; padding: 3px 8px; margin: 4px 0; width: 220px; max-width: 100%; }
th.sorts { cursor: pointer; } th.sorts:hover { color: var(--ink); } th[aria-sort=ascending]::after { content: " ▲"; } th[aria-sort=descending]::after { content: " ▼"; }
.gain { font-weight: 600; margin: 0 0 4px; }
.doubt { border-left-color: #c28a00; } .loss { border-left-color: #b03a00; } .info { border-left-color: var(--line); }
code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; padding: 1px 5px; }
summary { cursor: pointer; margin: 6px 0; } summary h2 { display: inline; } details { margin: 24px 0; }
ul.plain { padding-left: 18px; margin: 6px 0; }
@media (max-width: 560px) { .beside { grid-template-columns: 1fr; } body { padding: 16px 14px 40px; } dl { grid-template-columns: 1fr; } dd { margin: 0 0 6px; } .verdict { font-size: 18px; } .card { padding: 10px 12px; } .fall .bar { width: 30%; } .fall th { white-space: normal; } .fall th, .fall td { padding-right: 8px; } .scroll td:first-child:not(.n) { min-width: 96px; } .sides { grid-template-columns: max-content 1fr; } .rules tr { display: grid; grid-template-columns: 1fr max-content; } .rules td:nth-child(3), .rules th:nth-child(3) { grid-column: 1 / -1; } .rules td:nth-child(-n+2), .rules th:nth-child(-n+2) { border-bottom: 0; } .gains tr { display: grid; grid-template-columns: max-content 1fr; } .gains th, .gains td { white-space: normal; } .gains .bar { grid-row: 2; grid-column: 1 / -1; width: auto; padding: 0 0 6px; } }
@media (forced-colors: active) { svg { forced-color-adjust: none; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --panel: #fff; --accent: #0b5cad; --idle: #e7ebef; --edge: #ffffff; }
  @page { margin: 16mm 14mm; }
  body { max-width: none; padding: 0; font-size: 12px; }
  nav, .skip, input.find { display: none; }
  .card, svg, tr, .fall { break-inside: avoid; } h2, h3, summary, h2 + p, h3 + p { break-after: avoid; } thead { display: table-header-group; }
  .scroll, .fig { overflow: visible; } .fig > svg { min-width: 0; } table { font-size: 10px; } td, th { padding-right: 6px; } .scroll td:first-child:not(.n) { min-width: 130px; }
  details::details-content { content-visibility: visible; height: auto; }
  summary { list-style: none; }
}
)css";

/// What the page does where scripts run: tables are sorted by a click on a heading and can be searched, the picture of steps
/// zooms. Without scripts nothing is missing. The script makes no network requests, and the page's policy allows no other
/// script: kReportScriptHash is the hash of these bytes (a test compares them).
inline constexpr std::string_view kReportScript = R"js(
"use strict";
(function () {
  var units = {ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15};
  function value(text) {
    var found = /^[<+]?\s*([\u2212-]?[\d\u202f\u00a0 ,]*\.?\d+(?:e[+-]?\d+)?)\s*([^\d\s]*)/.exec(text.trim());
    if (!found) return null;
    var number = parseFloat(found[1].replace("\u2212", "-").replace(/[\u202f\u00a0 ,]/g, ""));
    var unit = found[2];
    return number * (units[unit] || (unit.length > 1 && units[unit.charAt(0)]) || 1);
  }
  function sort(table, column, head) {
    var body = table.tBodies[0], numeric = head.classList.contains("n");
    var down = head.getAttribute("aria-sort") === (numeric ? "descending" : "ascending") ? !numeric : numeric;
    var rows = Array.prototype.slice.call(body.rows).map(function (row, i) {
      var text = row.cells[column] ? row.cells[column].textContent : "";
      return {row: row, at: i, text: text, number: numeric ? value(text) : null};
    });
    rows.sort(function (a, b) {
      if (numeric && (a.number === null) !== (b.number === null)) return a.number === null ? 1 : -1;
      var order = numeric ? a.number - b.number : a.text.localeCompare(b.text);
      return (down ? -order : order) || a.at - b.at;
    });
    rows.forEach(function (one) { body.appendChild(one.row); });
    Array.prototype.forEach.call(head.parentNode.cells, function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  document.querySelectorAll(".scroll > table").forEach(function (table) {
    if (!table.tHead || !table.tBodies.length) return;
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      head.classList.add("sorts");
      head.tabIndex = 0;
      head.addEventListener("click", function () { sort(table, column, head); });
      head.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(table, column, head); }
      });
    });
    if (table.tBodies[0].rows.length < 6) return;
    var find = document.createElement("input");
    find.type = "search";
    find.className = "find";
    find.placeholder = "Filter rows";
    find.setAttribute("aria-label", "Filter the rows of this table");
    find.addEventListener("input", function () {
      var words = find.value.toLowerCase().split(/\s+/);
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      });
    });
    table.parentNode.parentNode.insertBefore(find, table.parentNode);
  });
  document.querySelectorAll(".beside").forEach(function (figure) {
    var pictures = figure.querySelectorAll("svg"), ends = figure.querySelector(".ends");
    if (!pictures.length || !ends) return;
    var whole = pictures[0].viewBox.baseVal.width, ns = parseFloat(figure.dataset.ns), from = 0, width = whole, grabbed = null;
    function time(x) {
      var t = x / whole * ns, unit = ns >= 1e9 ? [1e9, " s"] : ns >= 1e6 ? [1e6, " ms"] : [1e3, " µs"];
      return (t / unit[0]).toPrecision(4) + unit[1];
    }
    function show() {
      width = Math.min(whole, Math.max(whole / 4000, width));
      from = Math.min(whole - width, Math.max(0, from));
      pictures.forEach(function (picture) { picture.setAttribute("viewBox", from + " 0 " + width + " 10"); });
      ends.children[0].textContent = time(from);
      ends.children[1].textContent = time(from + width);
    }
    figure.classList.add("live");
    pictures.forEach(function (picture) {
      picture.addEventListener("wheel", function (event) {
        var share = event.offsetX / picture.clientWidth, before = width;
        width = width * Math.pow(1.25, event.deltaY > 0 ? 1 : -1);
        width = Math.min(whole, Math.max(whole / 4000, width));
        if (width === before) return;
        event.preventDefault();
        from += share * (before - width);
        show();
      }, {passive: false});
      picture.addEventListener("pointerdown", function (event) { grabbed = event.clientX; picture.setPointerCapture(event.pointerId); });
      picture.addEventListener("pointermove", function (event) {
        if (grabbed === null) return;
        from -= (event.clientX - grabbed) / picture.clientWidth * width;
        grabbed = event.clientX;
        show();
      });
      picture.addEventListener("pointerup", function () { grabbed = null; });
      picture.addEventListener("dblclick", function () { from = 0; width = whole; show(); });
    });
  });
})();
)js";
inline constexpr std::string_view kReportScriptHash =
    "Pf1fkXE/uSvNPt6PZY0+UHmm5b941PjOhwmIuN3kwTE=";

}  // namespace headway::analyzer
