// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "analyzer/diff/diff.h"
#include "analyzer/diff/tables.h"
#include "analyzer/model/time_class.h"
#include "analyzer/report/html_style.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Beside the style of the report: sums in one colour, changes that count nowhere in another.
constexpr std::string_view kDiffStyle = R"css(
.fall .sum rect { fill: var(--soft); } .fall .sum th, .fall .sum td { font-weight: 600; }
.ops tr:last-child th, .ops tr:last-child td { border: 0; font-weight: 400; } .fall.ops rect.more { fill: #b03a00; } .fall.ops rect.less { fill: #2fa37c; }
@media (prefers-color-scheme: dark) { .fall.ops rect.more { fill: #e2764a; } }
)css";

std::string paths(DiffSide side) {
  std::string out;
  for (const DiffRun& run : side) out += (out.empty() ? "" : ", ") + run.trace.path;
  return out;
}

std::string text(const Diff& d, DiffSide a, DiffSide b, std::size_t max_rows) {
  std::string out = fmt::format("Headway diff\n  A  {}\n  B  {}\n\n", escape_terminal(paths(a)),
                                escape_terminal(paths(b)));
  for (const std::string& doubt : d.doubts)
    out += fmt::format("  doubt  {}\n", escape_terminal(doubt));
  out += fmt::format("{}{}\n", d.doubts.empty() ? "" : "\n", d.sentence);
  if (!d.findings.empty()) {
    out += "\nFindings\n";
    for (const std::string& change : d.findings) out += fmt::format("  {}\n", change);
  }
  for (const Table& all : d.tables) {
    const Table table = changed_rows(all);
    out += fmt::format(
        "\n{}  ({})\n{}", table.title, table.note,
        table.rows.empty() ? "" : to_text(table, {.max_rows = max_rows, .indent = "  "}));
  }
  return out;
}

std::string markdown(const Diff& d, DiffSide a, DiffSide b, std::size_t max_rows) {
  std::string out =
      fmt::format("## Headway diff\n\nA: {}  \nB: {}\n\n**{}**\n", escape_markdown(paths(a)),
                  escape_markdown(paths(b)), escape_markdown(d.sentence));
  for (const std::string& doubt : d.doubts) out += fmt::format("\n> {}\n", escape_markdown(doubt));
  if (!d.findings.empty()) {
    out += "\n### Findings\n\n";
    for (const std::string& change : d.findings)
      out += fmt::format("- {}\n", escape_markdown(change));
  }
  for (const Table& all : d.tables) {
    const Table table = changed_rows(all);
    out += fmt::format("\n### {}\n\n{}\n\n{}", table.title, table.note,
                       table.rows.empty() ? "" : to_markdown(table, max_rows));
  }
  return out;
}

std::uint32_t color_of(std::string_view label) {
  for (const TimeClassInfo& c : time_classes())
    if (c.label == label) return c.rgb;
  return 0x57606a;
}

/// A bar between two shares of the width.
std::string bar(double from, double to, const std::string& fill) {
  return fmt::format(
      "<svg aria-hidden=\"true\"><rect x=\"{:.2f}%\" width=\"{:.2f}%\" "
      "height=\"100%\" {}/></svg>",
      100 * std::min(from, to), std::max(0.2, 100 * std::abs(to - from)), fill);
}

std::string figure_row(std::string_view style, std::string_view label, const std::string& shape,
                       const std::string& value) {
  return fmt::format(
      "<tr{}><th scope=\"row\">{}</th><td class=\"bar\">{}</td>"
      "<td class=\"n\">{}</td></tr>\n",
      style, escape_html(label), shape, escape_html(value));
}

/// What is changed, by the table's name, and by how much.
struct Change {
  std::string name;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t change() const { return b - a; }
};

std::vector<Change> changes_in(const Table& table) {
  auto value = [](const Cell& cell) {
    const auto* held = std::get_if<std::int64_t>(&cell);
    return held ? *held : 0;
  };
  std::vector<Change> changes;
  for (const auto& row : table.rows)
    changes.push_back({std::get<std::string>(row[0]), value(row[1]), value(row[2])});
  return changes;
}

/// From A's step to B's: each class's change begins where the one above it ends, largest first; what is below a
/// thousandth of the step in one row.
std::string class_figure(const Diff& d) {
  const Table* table = d.table("classes");
  if (!table) return "";
  std::vector<Change> changes = changes_in(*table);
  const Change total = changes.back();
  changes.pop_back();
  std::stable_sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return std::llabs(x.change()) > std::llabs(y.change());
  });
  const std::int64_t least = std::max<std::int64_t>(1, std::max(total.a, total.b) / 1000);
  Change rest{"All else", 0, 0};
  std::erase_if(changes, [&](const Change& one) {
    if (std::llabs(one.change()) >= least) return false;
    rest.b += one.change();
    return true;
  });
  if (rest.b != 0) changes.push_back(rest);
  // Falls and rises alternate: the running total may exceed both ends.
  std::int64_t most = std::max(total.a, total.b);
  std::int64_t running = total.a;
  for (const Change& one : changes) most = std::max(most, running += one.change());
  auto share = [&](std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(most); };
  auto sum = [&](std::string_view side, std::int64_t ns) {
    return figure_row(" class=\"sum\"", fmt::format("{}: {}", side, total.name),
                      bar(0, share(ns), ""), format_duration({ns}));
  };
  std::string out =
      "<table class=\"fall\"><caption class=\"away\">From A to B by class of time</caption>\n" +
      sum("A", total.a);
  running = total.a;
  for (const Change& one : changes) {
    const std::int64_t next = running + one.change();
    out += figure_row(
        "", one.name,
        bar(share(running), share(next), fmt::format("fill=\"#{:06x}\"", color_of(one.name))),
        format_change({one.change()}));
    running = next;
  }
  return out + sum("B", total.b) + "</table>\n";
}

/// The ops that changed most, to the left what B saves and to the right what it adds.
std::string op_figure(const Diff& d) {
  constexpr std::size_t kMost = 10;
  const Table* table = d.table("ops");
  if (!table) return "";
  std::vector<Change> changes = changes_in(*table);
  std::erase_if(changes, [](const Change& one) { return one.change() == 0; });
  if (changes.empty()) return "";
  changes.resize(std::min(kMost, changes.size()));  // the table is sorted by change
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const Change& one : changes) {
    least = std::min(least, one.change());
    most = std::max(most, one.change());
  }
  auto share = [&](std::int64_t ns) {
    return static_cast<double>(ns - least) / static_cast<double>(most - least);
  };
  std::string out =
      "<h3>Ops that changed most</h3>\n<table class=\"fall ops\"><caption class=\"away\">Change "
      "per step and op</caption>\n";
  for (const Change& one : changes)
    out += figure_row(
        "", shorten(one.name, 48),
        bar(share(0), share(one.change()), one.change() > 0 ? "class=\"more\"" : "class=\"less\""),
        format_change({one.change()}));
  return out + "</table>\n";
}

std::string html(const Diff& d, DiffSide a, DiffSide b, std::size_t max_rows) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>Headway diff</title>\n<style>{}{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>Headway diff</h1>\n",
      kReportStyle, kDiffStyle);
  // One card for all doubts: on a telephone each card would take a quarter of the screen.
  for (const std::string& doubt : d.doubts)
    out += fmt::format("{}<p><b>doubt</b> {}</p>\n",
                       &doubt == &d.doubts.front() ? "<div class=\"card doubt\">" : "",
                       prose_html(doubt));
  if (!d.doubts.empty()) out += "</div>\n";
  if (!d.headline.empty())
    out += fmt::format("<p class=\"verdict\">{}</p>\n", prose_html(d.headline));
  out += fmt::format(
      "<p class=\"{}\">{}</p>\n<dl "
      "class=\"sides\"><dt>A</dt><dd>{}</dd><dt>B</dt><dd>{}</dd></dl>\n"
      "</header>\n<main>\n",
      d.headline.empty() ? "verdict" : "figures", prose_html(d.sentence), escape_html(paths(a)),
      escape_html(paths(b)));
  if (const std::string figure = class_figure(d); !figure.empty())
    out += "<section aria-label=\"What changed\">\n<h2>What changed</h2>\n" + figure +
           op_figure(d) + "</section>\n";
  if (!d.findings.empty()) {
    out += "<h2>Findings</h2>\n<ul class=\"plain\">\n";
    for (const std::string& change : d.findings)
      out += fmt::format("<li>{}</li>\n", escape_html(change));
    out += "</ul>\n";
  }
  for (const Table& all : d.tables) {
    const Table table = changed_rows(all);
    out += fmt::format(
        "<details open>\n<summary><h2>{}</h2></summary>\n<p "
        "class=\"note\">{}</p>\n{}</details>\n",
        escape_html(table.title), escape_html(table.note),
        table.rows.empty() ? "" : to_html(table, max_rows));
  }
  return out + "</main>\n</body>\n</html>\n";
}

std::string json(const Diff& d, DiffSide a, DiffSide b) {
  using Json = nlohmann::ordered_json;
  auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  auto files = [](DiffSide side) {
    Json list = Json::array();
    for (const DiffRun& run : side) list.push_back(to_valid_utf8(run.trace.path));
    return list;
  };
  Json json;
  json["schema_version"] = 3;
  json["a"] = files(a);
  json["b"] = files(b);
  json["verdict"] = diff_verdict_id(d.verdict);
  json["sentence"] = to_valid_utf8(d.sentence);
  json["doubts"] = Json::array();
  for (const std::string& doubt : d.doubts) json["doubts"].push_back(to_valid_utf8(doubt));
  json["differences"] = Json::array();
  for (const Difference& one : d.differences) {
    json["differences"].push_back(
        {{"what", one.what}, {"a", to_valid_utf8(one.a)}, {"b", to_valid_utf8(one.b)}});
  }
  json["steps_a"] = d.steps_a;
  json["steps_b"] = d.steps_b;
  json["step_a_ns"] = static_cast<std::int64_t>(d.step.a);
  json["step_b_ns"] = static_cast<std::int64_t>(d.step.b);
  json["change"] = d.step.change;
  json["interval_95"] = {finite(d.step.interval.low), finite(d.step.interval.high)};
  json["p_value"] = d.step.between_runs ? Json(nullptr) : Json(d.step.p_value);
  json["cliffs_delta"] = d.step.cliffs_delta;
  json["minimum_detectable_change"] = finite(d.step.minimum_detectable);
  json["typical_verdict"] = diff_verdict_id(d.typical_verdict);
  json["typical_step_a_ns"] = static_cast<std::int64_t>(d.typical.a);
  json["typical_step_b_ns"] = static_cast<std::int64_t>(d.typical.b);
  json["typical_change"] = d.typical.change;
  json["typical_interval_95"] = {finite(d.typical.interval.low), finite(d.typical.interval.high)};
  json["typical_p_value"] = d.typical.between_runs ? Json(nullptr) : Json(d.typical.p_value);
  json["typical_minimum_detectable_change"] = finite(d.typical.minimum_detectable);
  auto slow = [](const SlowSteps& one) {
    return Json{{"count", one.count},
                {"every", one.every},
                {"longer_ns", one.longer.ns},
                {"ns_per_step", one.per_step.ns}};
  };
  json["slow_steps_a"] = slow(d.slow_a);
  json["slow_steps_b"] = slow(d.slow_b);
  auto known = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  json["samples_per_s_a"] = known(d.samples_per_s_a);
  json["samples_per_s_b"] = known(d.samples_per_s_b);
  for (const Table& table : d.tables) json[table.id] = to_json(table)["rows"];
  json["findings"] = d.findings;
  return json.dump(2) + "\n";
}

}  // namespace

std::string render(DiffFormat format, const Diff& d, DiffSide a, DiffSide b, std::size_t max_rows) {
  switch (format) {
    case DiffFormat::kMarkdown:
      return markdown(d, a, b, max_rows);
    case DiffFormat::kHtml:
      return html(d, a, b, max_rows);
    case DiffFormat::kJson:
      return json(d, a, b);
    case DiffFormat::kText:
      break;
  }
  return text(d, a, b, max_rows);
}

}  // namespace headway::analyzer
