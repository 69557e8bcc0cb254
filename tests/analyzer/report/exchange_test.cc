// SPDX-License-Identifier: MIT
// The formats that programs read keep to their standards: JSON to our schema, SARIF 2.1.0, JUnit.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/evidence/rule.h"
#include "analyzer/report/json_keys.h"
#include "analyzer/report/report.h"
#include "tests/analyzer/report/report_runs.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::json;

const ReportOptions kOptions = {.tool_version = "0.0.0-test", .max_rows = 15, .text_width = 110};

std::string type_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_null()) return "null";
  return value.is_number_integer() ? "integer" : "number";
}

/// The part of JSON Schema that report_json_schema uses. Strict: keys that are not declared are
/// errors, which the published schema leaves open for later versions.
void validate(const Json& value, const Json& schema, const std::string& path,
              std::vector<std::string>& errors) {
  if (!schema.contains("type")) return;  // "any"
  std::set<std::string> types;
  if (schema["type"].is_array())
    for (const Json& type : schema["type"]) types.insert(type.get<std::string>());
  else
    types.insert(schema["type"].get<std::string>());
  std::string type = type_of(value);
  bool integer_as_number = type == "integer" && types.contains("number");
  if (!types.contains(type) && !integer_as_number) errors.push_back(path + ": is " + type);
  if (schema.contains("const") && value != schema["const"]) errors.push_back(path + ": not const");
  if (value.is_object()) {
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key)) errors.push_back(path + "." + key.get<std::string>() + ": missing");
    const Json none = Json::object();
    const Json& known = schema.contains("properties") ? schema["properties"] : none;
    for (const auto& [key, item] : value.items()) {
      if (known.contains(key))
        validate(item, known[key], path + "." + key, errors);
      else if (schema.contains("additionalProperties"))
        validate(item, schema["additionalProperties"], path + ".*", errors);
      else
        errors.push_back(path + "." + key + ": not declared");
    }
  }
  if (value.is_array())
    for (const Json& item : value) validate(item, schema["items"], path + "[]", errors);
}

/// The rules of SARIF 2.1.0 that our logs can break.
void validate_sarif(const Json& log, std::vector<std::string>& errors) {
  auto need = [&](bool ok, const std::string& what) {
    if (!ok) errors.push_back(what);
  };
  need(log["version"] == "2.1.0", "version");
  need(log["runs"].is_array() && log["runs"].size() == 1, "runs");
  const Json& run = log["runs"][0];
  const Json& driver = run["tool"]["driver"];
  need(driver["name"] == "Headway", "driver.name");
  std::set<std::string> ids;
  for (const Json& rule : driver["rules"]) {
    need(ids.insert(rule["id"]).second, "rule ids are unique");
    for (const char* text : {"shortDescription", "fullDescription", "help"})
      need(!rule[text]["text"].get<std::string>().empty(), std::string("rule.") + text);
    need(rule["name"].get<std::string>().find(' ') == std::string::npos, "rule.name");
  }
  const std::set<std::string> kinds = {"pass", "open", "fail"};
  const std::set<std::string> levels = {"none", "note", "warning", "error"};
  for (const Json& result : run["results"]) {
    std::size_t index = result["ruleIndex"];
    need(index < driver["rules"].size() && driver["rules"][index]["id"] == result["ruleId"],
         "ruleIndex points to ruleId");
    need(kinds.contains(result["kind"]), "kind");
    need(levels.contains(result["level"]), "level");
    need((result["kind"] == "fail") == (result["level"] != "none"), "level none unless fail");
    need(!result["message"]["text"].get<std::string>().empty(), "message");
    need(result["locations"].size() == 1, "one location");
    const Json& location = result["locations"][0];
    std::string uri = location["physicalLocation"]["artifactLocation"]["uri"];
    need(!uri.empty(), "uri");
    for (char c : uri)
      need(c > ' ' && c < 0x7f && !std::strchr("<>\"{}|\\^`", c), "uri is encoded");
    for (const Json& logical : location.value("logicalLocations", Json::array()))
      need(!logical["name"].get<std::string>().empty(), "logical name");
  }
}

/// Checks that tags nest and attributes are quoted; returns how often each element opens.
std::map<std::string, int> well_formed(const std::string& xml) {
  std::map<std::string, int> count;
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    bool in_quotes = false;
    std::size_t end = at;
    while (end < xml.size() && (in_quotes || xml[end] != '>')) in_quotes ^= xml[end++] == '"';
    REQUIRE(end < xml.size());
    std::string tag = xml.substr(at + 1, end - at - 1);
    CHECK(tag.find('<') == std::string::npos);
    std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with("?")) continue;
    if (tag.starts_with("/")) {
      REQUIRE(!open.empty());
      CHECK(open.back() == tag.substr(1));
      open.pop_back();
    } else {
      ++count[name];
      if (!tag.ends_with("/")) open.push_back(name);
    }
    at = end;
  }
  CHECK(open.empty());
  return count;
}

}  // namespace

TEST_CASE("every JSON report has the declared keys, all of them and no others") {
  Json schema = Json::parse(report_json_schema().dump());
  for (const auto& [name, run] : test::runs_of_all_kinds()) {
    CAPTURE(name);
    std::vector<std::string> errors;
    validate(Json::parse(render(ReportFormat::kJson, run->trace, run->analysis, kOptions)), schema,
             "$", errors);
    for (const std::string& error : errors) FAIL_CHECK(error);
  }
}

TEST_CASE("the committed schema is the declared one") {
  std::ifstream file(HEADWAY_SOURCE_DIR "/docs/reference/report.schema.json");
  REQUIRE(file);
  CHECK(Json::parse(file) == Json::parse(report_json_schema().dump()));
}

TEST_CASE("a device's view has exactly the documented keys, in their order") {
  test::AnalyzedRun run(test::PlantedRun{});
  auto json =
      nlohmann::ordered_json::parse(render(ReportFormat::kJson, run.trace, run.analysis, kOptions));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json["device_view"][0].items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"rank", "device", "span_ns", "compute_ns",
                                         "exposed_comm_ns", "exposed_copy_ns", "idle_ns", "comm_ns",
                                         "overlap_ns", "kernels", "copies", "memsets"});
}

TEST_CASE("SARIF logs keep to the standard, with a result for every rule") {
  for (const auto& [name, run] : test::runs_of_all_kinds()) {
    CAPTURE(name);
    Json log = Json::parse(render(ReportFormat::kSarif, run->trace, run->analysis, kOptions));
    std::vector<std::string> errors;
    validate_sarif(log, errors);
    for (const std::string& error : errors) FAIL_CHECK(error);
    CHECK(log["runs"][0]["results"].size() == run->analysis.findings.size());
  }
}

TEST_CASE("JUnit is well-formed and counts what it holds") {
  for (const auto& [name, run] : test::runs_of_all_kinds()) {
    CAPTURE(name);
    std::string xml = render(ReportFormat::kJunit, run->trace, run->analysis, kOptions);
    auto count = well_formed(xml);
    CHECK(count["testcase"] == static_cast<int>(run->analysis.findings.size()));
    auto of = [&](Status status) {
      return std::count_if(run->analysis.findings.begin(), run->analysis.findings.end(),
                           [&](const Finding& f) { return f.status == status; });
    };
    CHECK(count["failure"] == of(Status::kFound));
    CHECK(count["skipped"] == of(Status::kCannotTell));
    CHECK(xml.find("failures=\"" + std::to_string(of(Status::kFound)) + "\"") != std::string::npos);
  }
}

TEST_CASE("formats follow from file names, the longest ending first") {
  CHECK(report_format_of_file("a b/r.html") == ReportFormat::kHtml);
  CHECK(report_format_of_file("r.htm") == ReportFormat::kHtml);
  CHECK(report_format_of_file("r.sarif") == ReportFormat::kSarif);
  CHECK(report_format_of_file("r.sarif.json") == ReportFormat::kSarif);
  CHECK(report_format_of_file("r.json") == ReportFormat::kJson);
  CHECK(report_format_of_file("r.xml") == ReportFormat::kJunit);
  CHECK(report_format_of_file("r.csv") == ReportFormat::kCsv);
  CHECK(!report_format_of_file("r.pdf"));
}

}  // namespace headway::analyzer
