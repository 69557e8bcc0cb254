// SPDX-License-Identifier: MIT
// What the recorded program chose to call things stays inert in every format.
#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "analyzer/report/html_style.h"
#include "analyzer/report/report.h"
#include "analyzer/stats/tables.h"
#include "tests/analyzer/report/report_runs.h"

namespace headway::analyzer {
namespace {

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Control characters but line breaks and tabs; of UTF-8 the C1 ones too.
bool has_controls(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

/// Every field of RFC 4180 text.
std::vector<std::string> csv_fields(const std::string& csv) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    char c = csv[i];
    if (c == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"')
        fields.back() += csv[++i];
      else
        quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      fields.emplace_back();
    } else if (quoted || c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

bool is_formula(const std::string& field) {
  if (field.empty() || std::string_view("=+-@\t\r").find(field[0]) == std::string_view::npos)
    return false;
  char* end = nullptr;  // a number may begin with a sign
  std::strtod(field.c_str(), &end);
  return *end != '\0';
}

void each_string(const nlohmann::json& json, const std::function<void(const std::string&)>& visit) {
  if (json.is_string()) visit(json.get<std::string>());
  if (json.is_structured()) {
    for (const auto& item : json) each_string(item, visit);
  }
}

struct FormatCase {
  ReportFormat format;
  const char* name;
  std::function<void(const std::string&)> check;
};

void check_markup(std::string text) {
  // A page of HTML ends with our own script; whatever else looks like one was let in by a name.
  const std::string own = "<script>" + std::string(kReportScript) + "</script>";
  if (const std::size_t at = text.find(own); at != std::string::npos) text.erase(at, own.size());
  CHECK(!has_controls(text));
  CHECK(!holds(text, "<script"));
  CHECK(!holds(text, "<img"));
  CHECK(!holds(text, "onerror=y>"));
  CHECK(!holds(text, "\u202E"));
  CHECK(!holds(text, "\uFFFE"));
}

const FormatCase kCases[] = {
    {ReportFormat::kText, "text",
     [](const std::string& text) {
       CHECK(!has_controls(text));
       CHECK(!holds(text, "\t"));
       CHECK(!holds(text, "\u202E"));
     }},
    {ReportFormat::kMarkdown, "markdown",
     [](const std::string& text) {
       check_markup(text);
       CHECK(!holds(text, "\n# heading"));
       CHECK(!holds(text, "[l](javascript"));  // a link, unless its brackets are escaped
       for (std::size_t at = text.find("|'/C"); at != std::string::npos;
            at = text.find("|'/C", at + 1))
         CHECK((at > 0 && text[at - 1] == '\\'));  // else it ends a cell
     }},
    {ReportFormat::kHtml, "html", check_markup},
    {ReportFormat::kJunit, "junit",
     [](const std::string& text) {
       check_markup(text);
       CHECK(!holds(text, "]]>"));
     }},
    {ReportFormat::kJson, "json",
     [](const std::string& text) {
       CHECK(!has_controls(text));
       CHECK(nlohmann::json::accept(text));
     }},
    {ReportFormat::kSarif, "sarif",
     [](const std::string& text) {
       CHECK(!has_controls(text));
       auto json = nlohmann::json::parse(text);
       for (const auto& result : json["runs"][0]["results"]) {
         std::string message = result["message"]["text"];
         CHECK(!has_controls(message));
         CHECK(!holds(message, "[l](javascript"));  // a link
         std::size_t at = message.find("{0}");      // a placeholder, unless it is {{0}}
         while (at != std::string::npos) {
           CHECK((at > 0 && message[at - 1] == '{'));
           at = message.find("{0}", at + 1);
         }
       }
       each_string(json["runs"][0]["results"],
                   [](const std::string& s) { CHECK(!has_controls(s)); });
     }},
    {ReportFormat::kCsv, "csv",
     [](const std::string& text) {
       std::string lines = text;
       std::erase(lines, '\r');  // the line ends of RFC 4180
       CHECK(!has_controls(lines));
       for (const std::string& field : csv_fields(text)) {
         CAPTURE(field);
         CHECK(!is_formula(field));
       }
     }},
};

}  // namespace

TEST_CASE("hostile names are inert in every format of the report") {
  CHECK(std::size(kCases) == report_format_names().size());
  const std::string names[] = {test::kHostileName, "@SUM(A1:A9)",         "+1+1", "-2+3", "\t=1",
                               "]]><x/>",          std::string("a\0b", 3)};
  for (const std::string& name : names) {
    auto run = test::hostile_run(name);
    for (const FormatCase& c : kCases) {
      CAPTURE(name);
      CAPTURE(c.name);
      for (std::size_t width : {std::size_t{80}, std::size_t{110}})
        c.check(render(c.format, run->trace, run->analysis,
                       {.tool_version = "0", .max_rows = 15, .text_width = width}));
    }
    for (const auto& [file, csv] : report_tables(run->trace, run->analysis)) {
      CAPTURE(file);
      CHECK(file.find('/') == std::string::npos);
      kCases[std::size(kCases) - 1].check(csv);
    }
  }
}

TEST_CASE("hostile names are inert in every table that stats prints") {
  auto run = test::hostile_run(test::kHostileName);
  for (const TableDeclaration& declaration : table_declarations()) {
    Table table = declaration.make(run->trace, run->analysis);
    CAPTURE(declaration.id);
    CHECK(!has_controls(to_text(table)));
    check_markup(to_markdown(table));
    check_markup(to_html(table));
    CHECK(nlohmann::json::accept(to_json(table).dump()));
  }
}

}  // namespace headway::analyzer
