// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "analyzer/report/html_style.h"
#include "analyzer/report/report.h"
#include "analyzer/stats/tables.h"
#include "common/text.h"
#include "tests/analyzer/report/report_runs.h"

namespace headway::analyzer {
namespace {

const ReportOptions kOptions = {.tool_version = "0.0.0-test", .max_rows = 15, .text_width = 110};

std::vector<std::string> attributes(const std::string& html, const std::string& name) {
  std::vector<std::string> values;
  std::string mark = " " + name + "=\"";
  for (std::size_t at = html.find(mark); at != std::string::npos; at = html.find(mark, at + 1)) {
    std::size_t begin = at + mark.size();
    values.push_back(html.substr(begin, html.find('"', begin) - begin));
  }
  return values;
}

/// Elements that are opened and not closed, or the other way round.
std::vector<std::string> unbalanced(const std::string& html) {
  const std::set<std::string> kVoid = {"meta", "!doctype", "rect", "line", "circle"};
  std::vector<std::string> open;
  std::vector<std::string> wrong;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    std::size_t end = html.find('>', at);
    std::string tag = html.substr(at + 1, end - at - 1);
    bool closed = tag.ends_with("/");
    std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1))
        wrong.push_back(tag);
      else
        open.pop_back();
    } else if (!closed && (!kVoid.contains(name) || name == "rect" || name == "circle" ||
                           (name == "line" && tag.find("class=\"roof\"") != std::string::npos))) {
      open.push_back(name);
    }
  }
  wrong.insert(wrong.end(), open.begin(), open.end());
  return wrong;
}

/// The page without its one script, which must be ours and the last thing on it.
std::string without_script(const std::string& html) {
  const std::string script = "<script>" + std::string(kReportScript) + "</script>\n";
  const std::size_t at = html.find(script);
  REQUIRE(at != std::string::npos);
  CHECK(html.substr(at + script.size()) == "</body>\n</html>\n");
  return html.substr(0, at) + html.substr(at + script.size());
}

}  // namespace

TEST_CASE(
    "the page stands alone: no script but its own, no link outside, every anchor there once") {
  for (const auto& [name, run] : test::runs_of_all_kinds()) {
    CAPTURE(name);
    const std::string page = render(ReportFormat::kHtml, run->trace, run->analysis, kOptions);
    CHECK(page.find("script-src 'sha256-" + std::string(kReportScriptHash) + "'\"") !=
          std::string::npos);
    const std::string html = without_script(page);
    for (const char* outside :
         {"<script", "<link", "<iframe", "http://", "https://", "url(", "@import"}) {
      CAPTURE(outside);
      CHECK(html.find(outside) == std::string::npos);
    }
    CHECK(attributes(html, "src").empty());
    std::vector<std::string> ids = attributes(html, "id");
    CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
    for (const std::string& target : attributes(html, "href")) {
      CAPTURE(target);
      REQUIRE(target.starts_with("#"));
      CHECK(std::count(ids.begin(), ids.end(), target.substr(1)) == 1);
    }
    for (const std::string& tag : unbalanced(html)) FAIL_CHECK("unbalanced " << tag);
    CHECK(html.find("\"nan") == std::string::npos);
    CHECK(html.find("=\"inf") == std::string::npos);
  }
}

TEST_CASE("doubts come first, then the verdict, then the findings, then the tables") {
  auto run = test::hostile_run("name");
  for (ReportFormat format : {ReportFormat::kText, ReportFormat::kMarkdown, ReportFormat::kHtml}) {
    std::string text = render(format, run->trace, run->analysis, kOptions);
    CAPTURE(text);
    std::string body = text.substr(std::max<std::size_t>(1, text.find("<body>") + 1) - 1);
    std::size_t doubt = body.find("doubt");
    std::string claim = run->analysis.findings.at(0).claim;
    std::size_t verdict = body.find(run->analysis.findings.at(0).title);
    std::size_t findings = body.find(format == ReportFormat::kHtml ? "<h2>Findings" : "Findings\n");
    std::size_t tables = body.find(op_table(run->trace, run->analysis).title, findings);
    CHECK(doubt < verdict);
    CHECK(verdict < findings);
    CHECK(findings < tables);
    CHECK(tables != std::string::npos);
  }
}

TEST_CASE("the typical step stands above the slowest, on one scale") {
  test::AnalyzedRun many(test::PlantedRun{.steps = 40, .kernels = 3});
  const std::string html = render(ReportFormat::kHtml, many.trace, many.analysis, kOptions);
  const std::size_t figure = html.find("<div class=\"beside\" data-ns=\"");
  REQUIRE(figure != std::string::npos);
  const std::size_t typical = html.find("Typical: step ", figure);
  const std::size_t slowest = html.find("Slowest: step ", figure);
  CHECK(typical < slowest);
  CHECK(slowest != std::string::npos);
  CHECK(html.find("viewBox=\"0 0 8000 10\"", typical) != std::string::npos);
}

TEST_CASE("many steps are drawn as columns that stay few") {
  test::AnalyzedRun run(test::PlantedRun{.steps = 3'000, .kernels = 2});
  std::string html = render(ReportFormat::kHtml, run.trace, run.analysis, kOptions);
  CHECK(html.size() < 1'500'000);
  CHECK(html.find("steps 13 to 25") != std::string::npos);
}

TEST_CASE("text keeps to its width, except for what cannot be broken") {
  for (const auto& [name, run] : test::runs_of_all_kinds()) {
    for (std::size_t width : {std::size_t{80}, std::size_t{110}}) {
      CAPTURE(name);
      std::string text = render(ReportFormat::kText, run->trace, run->analysis,
                                {.tool_version = "0", .max_rows = 15, .text_width = width});
      for (std::size_t from = 0; from < text.size();) {
        std::size_t end = text.find('\n', from);
        std::string line = text.substr(from, end - from);
        CAPTURE(line);
        bool one_word = line.find_last_of(' ') <= line.find_first_not_of(' ') + 12;
        CHECK((count_columns(line) <= width || one_word || name == "hostile"));
        from = end + 1;
      }
    }
  }
}

TEST_CASE("the page has a section of what people noted, escaped, and none without notes") {
  test::AnalyzedRun run(test::PlantedRun{.steps = 20, .kernels = 2});
  ReportOptions options = kOptions;
  CHECK(render(ReportFormat::kHtml, run.trace, run.analysis, options).find("id=\"notes\"") ==
        std::string::npos);
  options.notes = {{.note = {{{1'000'000}, {3'000'000}}, "slow <here>"}}};
  const std::string page = render(ReportFormat::kHtml, run.trace, run.analysis, options);
  CHECK(page.find("href=\"#notes\"") != std::string::npos);
  CHECK(page.find("slow &lt;here&gt;") != std::string::npos);
  CHECK(page.find("2.00 ms</td><td>slow") != std::string::npos);
}

}  // namespace headway::analyzer
