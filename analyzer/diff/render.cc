// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/diff/diff.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;"
    "color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:.5em 0}"
    "th,td{padding:.15em .8em;border-bottom:1px solid #ddd;text-align:left}"
    "td{font-variant-numeric:tabular-nums}.verdict{font-size:1.2em;font-weight:600}"
    ".note{color:#555}@media print{body{margin:0;max-width:none}}";

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
  for (const Table& table : d.tables) {
    out += fmt::format("\n{}  ({})\n{}", table.title, table.note,
                       to_text(table, {.max_rows = max_rows, .indent = "  "}));
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
  for (const Table& table : d.tables) {
    out +=
        fmt::format("\n### {}\n\n{}\n\n{}", table.title, table.note, to_markdown(table, max_rows));
  }
  return out;
}

std::string html(const Diff& d, DiffSide a, DiffSide b, std::size_t max_rows) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Headway diff</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>Headway diff</h1>\n",
      kStyle);
  for (const std::string& doubt : d.doubts)
    out += fmt::format("<p class=\"note\">{}</p>\n", escape_html(doubt));
  out += fmt::format("<p class=\"verdict\">{}</p>\n<p>A: {}<br>B: {}</p>\n",
                     escape_html(d.sentence), escape_html(paths(a)), escape_html(paths(b)));
  if (!d.findings.empty()) {
    out += "<h2>Findings</h2>\n<ul>\n";
    for (const std::string& change : d.findings)
      out += fmt::format("<li>{}</li>\n", escape_html(change));
    out += "</ul>\n";
  }
  for (const Table& table : d.tables) {
    out += fmt::format("<h2>{}</h2>\n<p class=\"note\">{}</p>\n{}", escape_html(table.title),
                       escape_html(table.note), to_html(table, max_rows));
  }
  return out + "</body>\n</html>\n";
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
